"""Who may run what (K43, XA4): deny wins, restrictions match generously, leave to the letter."""

import time
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolroll.errors import UsageError
from toolroll.kernel.approval.policy import Action, Policy, Rule
from toolroll.kernel.approval.request import Effect

DENY, ALLOW, ASK = (Rule(action=action) for action in ("deny", "allow", "ask"))


@pytest.mark.parametrize(
    ("effect", "asks", "action"),
    [
        ("reads", False, "allow"),
        ("reads", True, "ask"),
        ("writes", False, "ask"),
        ("external", False, "ask"),
        ("writes", True, "ask"),
    ],
)
def test_K40_only_reads_run_unasked_by_default(effect: Effect, asks: bool, action: Action) -> None:
    verdict = Policy().judge("t", effect=effect, asks=asks)
    assert (verdict.action, verdict.by_rule) == (action, False)
    assert verdict.because.startswith("t ")


def test_K43_a_rule_decides_before_the_effect_does() -> None:
    assert Policy((ALLOW,)).judge("t", effect="writes").action == "allow"
    assert Policy((ALLOW,)).judge("t", effect="writes", asks=True).action == "ask"
    assert Policy((ALLOW, DENY)).judge("t", effect="writes", asks=True).action == "deny"
    assert Policy((ASK,)).judge("t", effect="reads").action == "ask"
    verdict = Policy((DENY,)).judge("t", effect="reads")
    assert (verdict.action, verdict.because, verdict.by_rule) == ("deny", "rule: deny *", True)


def test_XA4_deny_wins_in_every_order() -> None:
    rules = [DENY, ALLOW, ASK, Rule(action="allow", tool="t", path="src/**"), Rule(action="ask", path="**")]
    for order in permutations(rules):
        assert Policy(order).judge("t", effect="reads", paths=["src/a"]).action == "deny"
    for order in permutations(rules[1:]):
        assert Policy(order).judge("t", effect="reads", paths=["src/a"]).action == "allow"


def test_C35_XA4_what_is_remembered_counts_at_once_and_never_over_a_deny_nor_a_tool_that_asks() -> None:
    book: list[Rule] = []
    policy = Policy((Rule(action="deny", path="src/secret"),), remembered=lambda: book)
    more = policy.plus([Rule(action="ask", tool="read")])

    def action(path: str, *, asks: bool = False) -> Action:
        [found] = {one.judge("t", effect="writes", paths=[path], asks=asks).action for one in (policy, more)}
        return found

    assert action("src/a") == "ask"
    book.append(Rule(action="allow", tool="t", path="src/**"))
    assert action("src/a") == "allow"
    assert action("src/secret") == "deny"
    assert action("docs/a") == "ask"
    assert action("src/a", asks=True) == "ask"
    book[:] = [DENY, ASK]
    assert action("src/a") == "ask", "taken back at once, and only leave can be remembered"


NAMES = st.sampled_from(["read", "write", "files_read", "Write", "x"])
GLOBS = st.sampled_from(["*", "read", "write", "*write*", "files_*", "?", "WRITE"])
PATHS = st.sampled_from(
    ["a", "src/a.py", "src/b/c.py", ".git/config", ".GIT/config", ".Env", "../x", "/etc/passwd", "a/../.env"]
)
PATTERNS = st.none() | st.sampled_from(["**", "src/**", "*.py", "**/*.py", ".git/**", "**/.env", "a", "/etc/**"])
RULES = st.builds(
    lambda action, tool, path: Rule(action=action, tool=tool, path=path),
    st.sampled_from(["deny", "allow", "ask"]),
    GLOBS,
    PATTERNS,
)


@given(rules=st.lists(RULES, max_size=6), data=st.data(), tool=NAMES, paths=st.lists(PATHS, max_size=3))
def test_XA4_the_order_of_rules_never_matters(
    rules: list[Rule], data: st.DataObject, tool: str, paths: list[str]
) -> None:
    verdict = Policy(tuple(rules)).judge(tool, effect="writes", paths=paths)
    shuffled = Policy().plus(data.draw(st.permutations(rules)))
    assert shuffled.judge(tool, effect="writes", paths=paths).action == verdict.action
    denied = any(rule.action == "deny" and rule.matches(tool, paths) for rule in rules)
    assert (verdict.action == "deny") == denied
    more = shuffled.plus([Rule(action="allow")]).judge(tool, effect="writes", paths=paths)
    assert (more.action == "deny") == denied


@given(rule=RULES, tool=NAMES, paths=st.lists(PATHS, max_size=3), other=PATHS)
def test_K43_more_paths_never_help_an_allow_rule_nor_escape_a_deny_rule(
    rule: Rule, tool: str, paths: list[str], other: str
) -> None:
    before, after = rule.matches(tool, paths), rule.matches(tool, [*paths, other])
    if rule.action == "allow" and paths:
        assert before or not after
    if rule.action != "allow":
        assert after or not before


@pytest.mark.parametrize(
    ("pattern", "fits", "does_not"),
    [
        ("a", ["a"], ["b", "a/b", "b/a", "aa", "A"]),
        ("*", ["a", "a.py", ".env"], ["a/b", "/a"]),
        ("*.py", ["a.py", ".py"], ["a.pyc", "src/a.py", "a.PY", "a.py/b"]),
        ("?", ["a", "é"], ["ab", "a/"]),
        ("a?c", ["abc", "a.c"], ["ac", "a/c", "abbc"]),
        ("**", ["a", "a/b", "a/b/c.py", ".git/config"], ["/a", "../a", "a/../b", "~/a", "C:/a", "a//b", "a/./b"]),
        ("src/**", ["src", "src/a", "src/a/b.py"], ["srcs/a", "a/src/b", "SRC/a", "src/../a", "src//a"]),
        ("src/**", ["src/a b"], [" src/a", "src/a ", "src/a\\b", "src/a/", "./src/a"]),
        ("src/*", ["src/a"], ["src", "src/a/b"]),
        ("**/a", ["a", "x/a", "x/y/a"], ["a/x", "xa", "x/ya"]),
        ("**/*.py", ["a.py", "x/a.py", "x/y/a.py"], ["a.txt", "a.py/x"]),
        ("a/**/b", ["a/b", "a/x/b", "a/x/y/b"], ["ab", "a/b/x", "x/a/b", "a/xb"]),
        ("a/**/b/**", ["a/b", "a/x/b/y/z"], ["a", "b"]),
        ("**/**", ["a", "a/b"], ["/a"]),
        ("*/*", ["a/b"], ["a", "a/b/c"]),
        ("/etc/**", ["/etc", "/etc/passwd"], ["etc/passwd", "x/etc/a", "/etc/../root"]),
        ("/**", ["/a"], ["a"]),
        ("~/notes/*", ["~/notes/a"], ["notes/a", "/notes/a"]),
        ("a[b]", ["a[b]"], ["ab"]),
        ("a{b,c}", ["a{b,c}"], ["ab"]),
        ("a.b+", ["a.b+"], ["axb", "a.bb"]),
        ("(a|b)", ["(a|b)"], ["a"]),
        ("x**", ["x", "xa"], ["x/a", "xa/b"]),
        ("a**b", ["ab", "axb"], ["a/b", "ax/yb"]),
        ("***", ["a"], ["a/b"]),
        ("a\nb", ["a\nb"], ["a", "ab"]),
        ("*a*b*c", ["abc", "xaxbxc"], ["acb", "abcx"]),
    ],
)  # fmt: skip
def test_K43_an_allow_rule_matches_to_the_letter(pattern: str, fits: list[str], does_not: list[str]) -> None:
    rule = Rule(action="allow", path=pattern)
    assert [path for path in fits if not rule.matches("t", [path])] == []
    assert [path for path in does_not if rule.matches("t", [path])] == []


@pytest.mark.parametrize(
    ("pattern", "touches", "does_not"),
    [
        (".git/**", [".git", ".git/config", ".GIT/config", ".Git/hooks/x", "./.git/config"], ["git/x", ".gitignore"]),
        (".git/**", [".git//config", " .git/config", "a/../.git/config", "/.git/config", "../.git/a"], ["a/.git/x"]),
        (".git/**", [".git\\config", "git~1/config", ".git./config", ".git::$INDEX_ALLOCATION/x"], ["x/.git"]),
        (".git/**", [".g\u200bit/config", "．ｇｉｔ/config", ".git/../.git/config", "\t.git/x\n", ".git /x"], []),
        ("**/.env", [".env", "a/.env", ".Env", "a/b/.ENV", "a//.env", ".env.", "a/./.env"], [".env.sample", "env"]),
        ("**/.env", [".env:stream", "/home/me/.env"], ["env"]),
        ("**/.ENV", [".env", "x/.env"], []),
        ("secret", ["secret", "SECRET", "secret.", "secret/", "secret/..//secret", "a/../secret"], ["secrets"]),
        ("src/**", ["src", "src/a", "SRC/a", "src/../a", "x/../src/a"], ["srcs", "a/src"]),
        ("a/b", ["a/b", "A/B", "a/x/../b", "a//b", "a/./b"], ["a", "b", "a/c"]),
        ("*", ["a", "A.py", "．", "a／b"], ["a/b"]),
        ("a*", ["a", "a／b", "ab"], ["b"]),
        ("x**", ["x", "xa", "x/a", "xa/b/c"], ["a/x"]),
        ("a**b", ["ab", "a/b", "ax/y/zb"], ["a", "b/a"]),
        ("/etc/**", ["/etc/passwd", "etc/passwd", "//etc//passwd", "/ETC/x", "/x/../etc/a"], ["x/etc"]),
        ("**", ["", ".", "..", "/", "a", "../../x", "~"], []),
        ("a:b", ["a:b", "a:c", "a"], ["b"]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("action", ["deny", "ask"])
def test_XA4_a_restriction_matches_in_every_spelling(
    action: Action, pattern: str, touches: list[str], does_not: list[str]
) -> None:
    rule = Rule(action=action, path=pattern)
    assert [path for path in touches if not rule.matches("t", [path])] == []
    assert [path for path in does_not if rule.matches("t", [path])] == []


@given(path=st.text(st.sampled_from("ab./*\\: Gg~\u200b／")), pattern=PATTERNS.filter(bool))
def test_XA4_a_path_that_is_allowed_to_the_letter_is_denied_by_the_same_pattern(path: str, pattern: str) -> None:
    if Rule(action="allow", path=pattern).matches("t", [path]):
        assert Rule(action="deny", path=pattern).matches("t", [path])


def test_K43_an_allow_rule_must_cover_every_path_a_deny_rule_touch_one() -> None:
    paths = ["src/a", ".git/config"]
    assert not Rule(action="allow", path="src/**").matches("t", paths)
    assert Rule(action="allow", path="**").matches("t", paths)
    assert Rule(action="deny", path=".git/**").matches("t", paths)
    assert Rule(action="ask", path=".git/**").matches("t", paths)


def test_K43_a_rule_about_paths_says_nothing_of_a_call_without() -> None:
    for action in ("deny", "allow", "ask"):
        assert not Rule(action=action, path="**").matches("t", [])
        assert Rule(action=action).matches("t", [])


@pytest.mark.parametrize(
    ("pattern", "tool", "core", "allows", "denies"),
    [
        ("write", "write", None, True, True),
        ("write", "Write", None, False, True),
        ("WRITE", "write", None, False, True),
        ("wri*", "write", None, True, True),
        ("wr?te", "write", None, True, True),
        ("write", "files_write", "write", False, True),
        ("files_*", "files_write", "write", True, True),
        ("write", "rewrite", None, False, False),
        ("*", "anything", None, True, True),
    ],
)
def test_K43_rules_match_tools_by_name(pattern: str, tool: str, core: str | None, allows: bool, denies: bool) -> None:
    assert Rule(action="allow", tool=pattern).matches(tool, [], core) is allows
    assert Rule(action="deny", tool=pattern).matches(tool, [], core) is denies
    assert Rule(action="ask", tool=pattern).matches(tool, [], core) is denies


def test_XA4_a_new_name_does_not_shake_off_a_deny_rule() -> None:
    policy = Policy((Rule(action="deny", tool="delete"), Rule(action="allow", tool="*")))
    assert policy.judge("tidy_up", effect="writes", core="delete").action == "deny"
    assert policy.judge("tidy_up", effect="writes", core="sweep").action == "allow"


@pytest.mark.parametrize("tool", ["", " ", "a b", "[ab", "a/b", "{a}", "a\n", "é"])
def test_K43_a_malformed_tool_pattern_is_refused(tool: str) -> None:
    with pytest.raises(UsageError, match="A rule's tool is a name"):
        Rule(action="deny", tool=tool)


@pytest.mark.parametrize("path", ["", "/", "a/", "a//b", "./a", "a/./b", "../a", "a/..", ".", "..", "//a"])
def test_K43_a_malformed_path_pattern_is_refused(path: str) -> None:
    with pytest.raises(UsageError, match="A rule's path is names with '/' between them"):
        Rule(action="deny", path=path)


def test_K43_an_unknown_action_is_refused() -> None:
    with pytest.raises(UsageError, match="not 'permit'"):
        Rule(action="permit")  # type: ignore[arg-type]  # what a settings file may hold


def test_a_rule_reads_as_a_sentence() -> None:
    assert str(Rule(action="deny", tool="write", path="**/.env")) == "deny write on **/.env"
    assert str(Rule(action="ask")) == "ask *"


def test_K43_no_pattern_makes_a_match_slow() -> None:
    path = "/".join(["a" * 200] * 120)
    began = time.process_time()
    for action in ("deny", "allow"):
        for pattern in ("**/" * 30 + "x", "*a" * 90 + "b", "/".join(["**", "a*"] * 30) + "/b", "**a" * 30 + "b"):
            assert not Rule(action=action, path=pattern).matches("t", [path])
    assert time.process_time() - began < 5


def test_XP18_the_paths_denied_to_a_tool_are_those_of_all_rules_that_name_it() -> None:
    rules = [
        Rule(action="deny", path="secret/**"),
        Rule(action="deny", tool="SEARCH", path="logs/**"),
        Rule(action="deny", tool="other"),
        Rule(action="ask", path="asked/**"),
        Rule(action="allow", path="open/**"),
    ]
    policy = Policy(tuple(rules))
    assert policy.denied_paths("search") == ("secret/**", "logs/**")
    assert policy.denied_paths("grep", "search") == ("secret/**", "logs/**")
    assert policy.denied_paths("grep") == ("secret/**",)
    assert Policy().denied_paths("grep") == ()


def test_XP19_the_paths_that_a_call_was_not_asked_about_are_those_of_ask_rules_that_it_does_not_name() -> None:
    rules = (Rule(action="ask", path="asked/**"), Rule(action="ask", tool="SEARCH", path="logs/**"), Rule(action="ask"))
    policy = Policy(rules)
    assert policy.unasked_paths("search", ["."]) == ("asked/**", "logs/**")
    assert policy.unasked_paths("grep", ["logs"], "search") == ("asked/**",)
    assert policy.unasked_paths("grep", ()) == ("asked/**",)
    assert policy.plus([Rule(action="allow", tool="grep", path="asked")]).unasked_paths("grep", ()) == ("asked/**",)
    allowing = Policy(rules, remembered=lambda: [Rule(action="allow", tool="grep")])
    assert (allowing.unasked_paths("grep", ()), allowing.unasked_paths("other", ())) == ((), ("asked/**",))
