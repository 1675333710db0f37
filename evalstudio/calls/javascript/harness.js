// Evaluated in the sandbox before an evaluator's own code; calls that code and turns what comes of it into text.
//
// Everything it needs is taken now, while the built-ins are untouched; what the evaluator's code changes later cannot
// reach it. Nothing here is a wall, though: the host keeps the limits, and reads every answer as untrusted data.
//
// An answer is one string: "=" and the returned value as JSON, "!" and a fault as JSON, or "?" for a promise that has
// not settled. Console lines lie in `journal`, which the host reads from memory even when the code was cut short:
// two 32-bit counts, of the bytes used and of the lines dropped, then the lines in UTF-8, each ended by a zero byte.
(lineCount, outputUnits, journalBytes, name) => {
  "use strict";
  const { stringify } = JSON;
  const { apply } = Reflect;
  const finite = isFinite;
  const text = String;
  const { slice, toWellFormed } = String.prototype;
  const { btoa, encodeURIComponent, unescape } = globalThis;
  const { setFromBase64 } = Uint8Array.prototype;
  const Bytes = Uint8Array;
  const Failure = Error;
  const InternalFailure = InternalError;
  const RangeFailure = RangeError;
  const LINE_UNITS = 1000;
  const MESSAGE_UNITS = 2000;
  const STACK_UNITS = 4000;

  const cut = (string, units) => (string.length <= units ? string : apply(slice, string, [0, units]) + "…");

  // ---- console ------------------------------------------------------------------------------------------------------

  const journal = new ArrayBuffer(journalBytes);
  const counts = new Uint32Array(journal, 0, 2);
  let lines = 0;

  // Every step of this is native: a loop over the characters takes a microsecond for each.
  const write = (line) => {
    const encoded = btoa(unescape(encodeURIComponent(apply(toWellFormed, line, []) + "\0")));
    const room = new Bytes(journal, 8 + counts[0]);
    if (encoded.length > room.length) {
      lines = lineCount;
      counts[1] += 1;
      return;
    }
    counts[0] += apply(setFromBase64, room, [encoded]).written;
    lines += 1;
  };

  const shown = (value) => {
    try {
      if (typeof value !== "object" || value === null) return text(value);
      if (value instanceof Failure) return text(value);
      return stringify(value) ?? text(value);
    } catch {
      return "[cannot be shown]";
    }
  };

  const log = (...values) => {
    if (lines >= lineCount) {
      counts[1] += 1;
      return;
    }
    let line = "";
    for (let i = 0; i < values.length && line.length <= LINE_UNITS; i++) {
      line += (i === 0 ? "" : " ") + cut(shown(values[i]), LINE_UNITS);
    }
    write(cut(line, LINE_UNITS));
  };

  globalThis.console = { log, debug: log, info: log, warn: log, error: log };

  // ---- random numbers: sfc32, seeded anew for every call ------------------------------------------------------------

  let state;
  let warm;

  const seed = (high, low) => {
    state = [high | 0, low | 0, 0x9e3779b9 | 0, 1];
    warm = false;
  };
  seed(0, 0);

  const draw = () => {
    const sum = (state[0] + state[1] + state[3]) | 0;
    state[3] = (state[3] + 1) | 0;
    state[0] = state[1] ^ (state[1] >>> 9);
    state[1] = (state[2] + (state[2] << 3)) | 0;
    state[2] = (((state[2] << 21) | (state[2] >>> 11)) + sum) | 0;
    return sum >>> 0;
  };

  const { random } = {
    random() {
      if (!warm) {
        warm = true;
        for (let i = 0; i < 16; i++) draw();
      }
      return ((draw() >>> 5) * 0x4000000 + (draw() >>> 6)) / 0x20000000000000;
    },
  };
  Object.defineProperty(Math, "random", { value: random, writable: true, configurable: true });

  // ---- answers ------------------------------------------------------------------------------------------------------

  const quoted = (string, units) => stringify(cut(string, units));

  const fault = (kind, message, stack = "") =>
    `!{"kind":"${kind}","message":${quoted(message, MESSAGE_UNITS)},"stack":${quoted(stack, STACK_UNITS)}}`;

  const kindOf = (error, message) => {
    if (error instanceof InternalFailure && apply(slice, message, [0, 13]) === "out of memory") return "memory";
    if (error instanceof RangeFailure && message === "Maximum call stack size exceeded") return "stack";
    return "thrown";
  };

  const thrown = (error) => {
    try {
      if (!(error instanceof Failure)) return fault("thrown", typeof error === "string" ? error : shown(error));
      const stack = error.stack;
      return fault(kindOf(error, text(error.message)), text(error), typeof stack === "string" ? stack : "");
    } catch {
      return fault("thrown", "an error that cannot be shown");
    }
  };

  class NotJson {
    constructor(what) {
      this.what = what;
    }
  }

  // JSON has no NaN and no BigInt; the first would silently become null.
  const guard = (key, value) => {
    if (typeof value === "number" && !finite(value)) throw new NotJson(`${value} under "${key}"`);
    if (typeof value === "bigint") throw new NotJson(`a BigInt under "${key}"`);
    return value;
  };

  const notJson = (what) => fault("not_json", `${name} returned ${what}, which JSON cannot hold.`);

  const object = (value) => {
    let json;
    try {
      json = stringify(value, guard);
    } catch (error) {
      if (error instanceof NotJson) return notJson(error.what);
      if (error instanceof TypeError && error.message === "circular reference") {
        return notJson("an object that contains itself");
      }
      return thrown(error);
    }
    if (json === undefined) return notJson("an object without a JSON form");
    return sized(json);
  };

  const sized = (json) => (json.length > outputUnits ? fault("output", "", "") : "=" + json);

  const answer = (value) => {
    switch (typeof value) {
      case "number":
        if (finite(value)) return "=" + value;
        return fault("not_a_number", `${name} returned ${value}, which is not a number.`);
      case "boolean":
        return value ? "=true" : "=false";
      case "string":
        return value.length > outputUnits ? fault("output", "", "") : sized(stringify(value));
      case "undefined":
        return fault("no_value", `${name} returned nothing: is a return statement missing?`);
      case "object":
        return value === null ? "=null" : object(value);
      default:
        return notJson(typeof value === "bigint" ? "a BigInt" : `a ${typeof value}`);
    }
  };

  // ---- what the host calls ------------------------------------------------------------------------------------------

  let called;
  let settled = "?";

  const wait = async (promise) => {
    try {
      settled = answer(await promise);
    } catch (error) {
      settled = thrown(error);
    }
  };

  const adopt = (found) => {
    if (typeof found !== "function") return fault("no_function", `The code defines no function named ${name}.`);
    called = found;
    return "=true";
  };

  const invoke = (packet) => {
    seed(packet[0], packet[1]);
    try {
      const returned = called(packet[2]);
      const promised = typeof returned === "object" && returned !== null && typeof returned.then === "function";
      if (!promised) return answer(returned);
      wait(returned);
      return "?";
    } catch (error) {
      return thrown(error);
    }
  };

  const settle = () => settled;

  return [adopt, invoke, settle, thrown, journal];
}
