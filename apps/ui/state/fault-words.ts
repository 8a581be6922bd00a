import type { EffectOf, FaultKind, FaultMatch, FaultReport } from '../../../control/index.js'

type EffectWords = { readonly [Kind in FaultKind]: (effect: EffectOf<Kind>) => string }

const PULL_PROBLEMS: Readonly<Record<string, string>> = {
  'not-found': 'the registry does not have it',
  unauthorized: 'the registry refuses the password',
  timeout: 'the registry does not answer',
}

/** Effects in plain words. */
const EFFECT_WORDS: EffectWords = {
  'agent-silent': () => 'the agent does not answer',
  'agent-restart': () => 'the agent restarts',
  'power-loss': () => 'the machine loses power',
  'bmc-silent': () => 'the BMC does not answer',
  'bmc-dark': ({ ms }) => `the BMC carries out the call, then does not answer for ${exactLength(ms)}`,
  'bmc-busy': ({ retryAfter }) =>
    `the BMC is busy${retryAfter === undefined ? '' : ` and asks to try again after ${retryAfter} s`}`,
  'bmc-lies': () => 'the BMC reports success and does nothing',
  'exit-code': ({ code, stderr }) =>
    `the program ends with exit code ${code}${stderr === undefined ? '' : ` and prints "${stderr.trim()}"`}`,
  'disk-error': ({ at }) => `the disk is broken at byte ${at}`,
  'disk-full': () => 'the disk has no space left',
  'disk-lies': () => 'the disk reports a write as done and loses it',
  'partitions-late': ({ ms }) => `new partitions appear ${exactLength(ms)} late`,
  status: ({ status, body, headers = {} }) => {
    const more = [...Object.keys(headers), ...(body === undefined ? [] : [JSON.stringify(body)])]
    return `the answer is ${status}${more.length === 0 ? '' : ` with ${more.join(', ')}`}`
  },
  'connection-reset': ({ when }) =>
    when === 'after' ? 'the request is carried out, and its answer is lost' : 'the connection is reset',
  hang: () => 'no answer comes',
  'truncated-body': () => 'the answer breaks off in the middle',
  'malformed-body': () => 'the answer is garbled',
  'slow-body': ({ bytesPerSecond }) => `the answer comes at ${bytesPerSecond} bytes a second`,
  repeat: ({ times = 2 }) => `the request is carried out ${times} times`,
  'wrong-token': () => 'the agent shows a wrong token',
  'stale-agent-url': () => 'the agent names an address where it does not listen',
  'empty-last-error': () => 'Ironic leaves last_error empty',
  'pull-error': ({ reason = 'not-found' }) => `the image cannot be pulled: ${PULL_PROBLEMS[reason] ?? reason}`,
  'link-cut': ({ ms }) => `the SSH connection is cut after ${exactLength(ms)}`,
  delay: ({ ms }) => `it takes ${exactLength(ms)} longer`,
}

/** Where a fault strikes, by its conditions, in the order of a sentence. */
const MATCH_WORDS: { readonly [Name in keyof Required<FaultMatch>]: (value: string) => string } = {
  bmc: (call) => `when the BMC is asked to ${call}`,
  program: (name) => `when ${name} runs`,
  route: (route) => `on ${route}`,
  to: (receiver) => `on requests to ${receiver}`,
  disk: (name) => `on disk ${name}`,
  image: (name) => `on image ${name}`,
  node: (name) => `for ${name}`,
  machine: (id) => `for machine ${id}`,
  label: (selector) => `for hosts labelled ${selector}`,
  step: (name) => `during step ${name}`,
  phase: (name) => `in phase ${name}`,
  state: (name) => `in state ${name}`,
}

/** `the answer is 503 on POST /v1/heartbeat for node-3`. */
export function faultWords({ effect, match }: Pick<FaultReport, 'effect' | 'match'>): string {
  const names = Object.keys(MATCH_WORDS) as (keyof FaultMatch)[]
  const where = names.flatMap((name) => {
    const value = match[name]
    return value === undefined ? [] : [MATCH_WORDS[name](value)]
  })
  return `${effectWords(effect)}${where.length === 0 ? ', everywhere' : ` ${where.join(' ')}`}`
}

function effectWords<Kind extends FaultKind>(effect: EffectOf<Kind>): string {
  const words = EFFECT_WORDS[effect.kind as Kind]
  return words(effect)
}

const UNITS: readonly (readonly [ms: number, unit: string])[] = [
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1000, 's'],
  [1, 'ms'],
]

/** `1 min 30 s`, to the millisecond. */
function exactLength(ms: number): string {
  let rest = ms
  const parts = UNITS.flatMap(([length, unit]) => {
    const count = Math.floor(rest / length)
    rest -= count * length
    return count === 0 ? [] : [`${count} ${unit}`]
  })
  return parts.length === 0 ? '0 s' : parts.join(' ')
}
