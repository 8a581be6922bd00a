/** Time limits that can pass in the matrix, by the sentence with which Ironic says so. */
const TIME_LIMITS: readonly (readonly [name: string, sentence: RegExp])[] = [
  ['inspect_wait_timeout', /^Timeout reached while inspecting the node/],
  ['clean_callback_timeout', /^Timeout reached while cleaning the node/],
  ['deploy_callback_timeout', /^Timeout reached while waiting for callback/],
  ['rescue_callback_timeout', /^Timeout reached while waiting for rescue ramdisk callback/],
  ['service_callback_timeout', /^Timeout reached while servicing the node/],
  ['power_state_change_timeout', /Failed to set node power state to|Timed out after \d+ secs waiting for power/],
]

/** The option whose time has passed, by an error of a node. */
export const passedLimit = (error: string | null): string | null =>
  TIME_LIMITS.find(([, sentence]) => error !== null && sentence.test(error))?.[0] ?? null

/**
 * The rule that makes a kind of a sentence: these parts of it are left out, in this order. What stays is Ironic's own
 * sentence: which flow failed, in which step, at which call, with which status.
 */
const DETAILS: readonly (readonly [detail: RegExp, instead: string])[] = [
  // The body of a BMC's answer, as sushy shows it.
  [/(HTTP [A-Z]+) \S+ returned code (\d+)\..*$/s, '$1 returned code $2'],
  // Which exception a library had: refused, reset, closed.
  [/(Unable to connect to) \S+.*$/s, '$1 the BMC'],
  [/(for invoking command [\w.]+)\. Error: .*$/s, '$1'],
  // The medium: it is built for the node, or one for all.
  [/(with image) \S+\. Error/, '$1 IMAGE. Error'],
  // The place at which Python's JSON reader gave up, and its name for what it had begun to read.
  [/(Expecting|Unterminated|Invalid|Extra data)[^:]*: line \d+ column \d+ \(char \d+\)/g, 'no JSON'],
  // Request, answer and parser of what is no JSON.
  [/(Unable to decode response as JSON)\b.*$/s, '$1'],
  // A step as a Python dictionary: only its name counts.
  [/\{[^{}]*'step': '(\w+)'[^{}]*(\{[^{}]*(\{[^{}]*\})?[^{}]*\}[^{}]*)*\}/g, '{$1}'],
]

/** The kind of an error, for which the two sides must agree. */
export const errorKind = (error: string | null): string | null =>
  error === null ? null : DETAILS.reduce((text, [detail, instead]) => text.replace(detail, instead), error).trim()
