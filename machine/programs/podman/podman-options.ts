import { PodmanFailure } from './podman-failure.js'

/** Options with a value that podman's verbs take, besides `--name=value` in one word. */
const VALUED_OPTIONS = new Set(
  '--log-level --root --runroot --authfile --retry --retry-delay --arch --os --platform --creds --cert-dir --pull --pid -v --volume -e --env --env-file --entrypoint --name --network --net --security-opt --device --mount --user -u --hostname -h --workdir -w --cgroups --ipc --uts --cidfile --label -l --tmpfs --ulimit --cap-add --cap-drop --memory -m --cpus --restart --stop-timeout --sdnotify --log-driver --log-opt'.split(
    ' ',
  ),
)

export interface PodmanOptions {
  /** Without options: the verb, the image, the command. */
  words: readonly string[]
  /** The last value of an option; empty for one without a value. */
  value(...names: readonly string[]): string | undefined
  values(...names: readonly string[]): readonly string[]
}

/** Reads options up to the first word, or up to the second word where the first is a verb. What follows belongs to the container. */
export function podmanOptions(argv: readonly string[], operands: number): PodmanOptions {
  const found: [name: string, value: string][] = []
  const words: string[] = []
  let at = 0
  for (; at < argv.length && words.length < operands; at++) {
    const word = argv[at]!
    if (!word.startsWith('-') || word === '-') {
      words.push(word)
      continue
    }
    const equals = word.indexOf('=')
    if (equals > 0) found.push([word.slice(0, equals), word.slice(equals + 1)])
    else if (VALUED_OPTIONS.has(word)) {
      const value = argv[++at]
      if (value === undefined) throw new PodmanFailure(`flag needs an argument: ${word}`)
      found.push([word, value])
    } else found.push([word, ''])
  }
  const values = (...names: readonly string[]) =>
    found.filter(([name]) => names.includes(name)).map(([, value]) => value)
  return { words: [...words, ...argv.slice(at)], values, value: (...names) => values(...names).at(-1) }
}

/** Go's durations, as far as people write them. */
export function goDuration(text: string): number {
  const [, number, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(text) ?? []
  const factor = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }[unit ?? '']
  if (factor === undefined) throw new PodmanFailure(`time: invalid duration ${JSON.stringify(text)}`)
  return Number(number) * factor
}
