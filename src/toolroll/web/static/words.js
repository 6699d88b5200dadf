// What two texts have in common, word by word: the longest sequence that is in both.

const MAX_CELLS = 4_000_000;
const split = (text) => text.match(/\s+|[^\s]+/g) || [];

function common(before, after) {
  const width = after.length + 1;
  const lengths = new Uint16Array((before.length + 1) * width);
  for (let i = before.length - 1; i >= 0; i -= 1) {
    for (let j = after.length - 1; j >= 0; j -= 1) {
      lengths[i * width + j] = before[i] === after[j]
        ? lengths[(i + 1) * width + j + 1] + 1
        : Math.max(lengths[(i + 1) * width + j], lengths[i * width + j + 1]);
    }
  }
  const inBefore = new Set(), inAfter = new Set();
  for (let i = 0, j = 0; i < before.length && j < after.length;) {
    if (before[i] === after[j]) {
      inBefore.add(i++);
      inAfter.add(j++);
    } else if (lengths[(i + 1) * width + j] >= lengths[i * width + j + 1]) i += 1;
    else j += 1;
  }
  return [inBefore, inAfter];
}

function join(words, same) {
  const pieces = [];
  words.forEach((text, place) => {
    const isSame = same.has(place);
    const last = pieces[pieces.length - 1];
    if (last && last.isSame === isSame) last.text += text;
    else pieces.push({ text, isSame });
  });
  return pieces;
}

// Pieces of both texts, each with whether it is in the other one too.
export function compareWords(before, after) {
  const old = split(before), now = split(after);
  const [inOld, inNow] = (old.length + 1) * (now.length + 1) > MAX_CELLS ? [new Set(), new Set()] : common(old, now);
  return [join(old, inOld), join(now, inNow)];
}
