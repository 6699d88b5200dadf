export { h, render, Fragment, createRef } from "preact";
export { useEffect, useLayoutEffect, useRef, useState, useMemo, useCallback, useErrorBoundary } from "preact/hooks";
export { signal, computed, effect, batch, useSignal, useComputed, useSignalEffect } from "@preact/signals";
import htm from "htm";
import { h } from "preact";
export const html = htm.bind(h);
