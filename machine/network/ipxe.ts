import { maskedUrl } from '../../base/bytes/index.js'
import { errorChain, type Clock } from '../../base/runtime/index.js'
import { IpxeSettings, type FirmwareFacts } from './ipxe-settings.js'

/** Where a boot script leads. */
export type ScriptEnd =
  | { kind: 'kernel'; kernel: string; ramdisk: string; append: string }
  | { kind: 'iso'; url: string }
  /** The local disks. */
  | { kind: 'disk' }
  /** The firmware goes on with its next device. */
  | { kind: 'next'; why: string }
  | { kind: 'power off' }

export interface ScriptPlace {
  facts: FirmwareFacts
  clock: Clock
  signal: AbortSignal
  say: (line: string) => void
  /**
   * The text of a file.
   *
   * @throws Error with the reason
   */
  text: (url: string) => Promise<string>
  /**
   * Checks that a file is there.
   *
   * @throws Error with the reason
   */
  check: (url: string) => Promise<void>
}

/** Lines that a boot may carry out: a script that repeats itself without an end stops here. */
const MAX_SCRIPT_LINES = 5_000
const MAX_CHAIN_DEPTH = 16

class Ended extends Error {
  constructor(readonly end: ScriptEnd) {
    super('the script has ended')
  }
}

/** A command that failed: the line goes on after `||`, or the script ends. */
class IpxeCommandError extends Error {}

/**
 * Runs an iPXE script as far as Ironic's scripts and those like them need: variables, labels, `chain`, `kernel`, `initrd`,
 * `boot`, `sanboot` and the control of flow. Another command fails as one that this iPXE was built without.
 */
export async function runIpxe(url: string, text: string, place: ScriptPlace): Promise<ScriptEnd> {
  const run = new IpxeRun(place)
  try {
    const status = await run.script(url, text)
    return { kind: 'next', why: status ?? `${url} ended without a boot` }
  } catch (error) {
    if (error instanceof Ended) return error.end
    throw error
  }
}

class IpxeRun {
  readonly #place: ScriptPlace
  readonly #settings: IpxeSettings
  #kernel: { url: string; append: string } | undefined
  #initrds: string[] = []
  #lines = 0
  #depth = 0

  constructor(place: ScriptPlace) {
    this.#place = place
    this.#settings = new IpxeSettings(place.facts)
  }

  /** Runs one script, and returns why it failed; undefined after success. */
  async script(base: string, text: string): Promise<string | undefined> {
    const lines = joined(text)
    if (!/^#!(ipxe|gpxe)\b/.test(lines[0] ?? '')) return `${base} is not an iPXE script`
    let at = 0
    for (;;) {
      const line = lines[at++]
      if (line === undefined) return undefined
      this.#place.signal.throwIfAborted()
      if (++this.#lines > MAX_SCRIPT_LINES) return `${base} does not end`
      if (/^\s*(#|:|$)/.test(line)) continue
      const outcome = await this.#line(line, base)
      if (outcome.kind === 'exit') return outcome.failure
      if (outcome.kind === 'failed') return outcome.why
      if (outcome.kind === 'goto') {
        const label = lines.findIndex((each) => each.trim() === `:${outcome.label}`)
        if (label < 0) return `${base} has no label ${outcome.label}`
        at = label + 1
      }
    }
  }

  /** A command is left out when the mark before it, `||` or `&&`, asks for another end of the last command that ran. */
  async #line(line: string, base: string): Promise<LineEnd> {
    const words = this.#settings.expand(line).trim().split(/\s+/)
    let failure: string | undefined
    let runs = true
    for (let from = 0; from <= words.length;) {
      const mark = words.findIndex((word, index) => index >= from && /^(\|\||&&|;)$/.test(word))
      const to = mark < 0 ? words.length : mark
      if (runs) {
        failure = undefined
        try {
          const jump = await this.#command(words.slice(from, to), base)
          if (jump) return jump
        } catch (error) {
          if (!(error instanceof IpxeCommandError)) throw error
          failure = error.message
        }
      }
      if (mark < 0) break
      runs = words[mark] === ';' || (words[mark] === '||') === (failure !== undefined)
      from = mark + 1
    }
    return failure === undefined ? { kind: 'done' } : { kind: 'failed', why: failure }
  }

  /** Commands of the script itself: its settings, its flow, the console and power. Others concern images. */
  async #command([name = '', ...all]: readonly string[], base: string): Promise<LineEnd | undefined> {
    const { say, clock, signal } = this.#place
    const { options, rest } = parseIpxeOptions(all)
    switch (name) {
      case '':
      case 'ifopen':
      case 'ifconf':
      case 'dhcp':
      case 'isolate':
      case 'clear':
        return undefined
      case 'echo':
        say(`iPXE: ${rest.join(' ')}`)
        return undefined
      case 'set':
        this.#settings.set(rest[0] ?? '', rest.slice(1).join(' '))
        return undefined
      case 'inc':
        this.#settings.increase(rest[0] ?? '', rest[1])
        return undefined
      case 'isset':
        return expected(rest.length > 0, 'nothing is set')
      case 'iseq':
        return expected(rest[0] === rest[1], `${rest[0]} is not ${rest[1]}`)
      case 'goto':
        return { kind: 'goto', label: rest[0] ?? '' }
      case 'exit':
        return { kind: 'exit', failure: ['0', undefined].includes(rest[0]) ? undefined : `exit ${rest[0]}` }
      case 'sleep':
        await clock.sleep(Number(rest[0] ?? 0) * 1000, { signal })
        return undefined
      case 'prompt':
        // Key presses do not exist here.
        await clock.sleep(Number(options['timeout'] ?? 0), { signal })
        return expected(false, 'no key was pressed')
      case 'poweroff':
        throw new Ended({ kind: 'power off' })
      case 'reboot':
        throw new Ended({ kind: 'next', why: 'the boot script asks for a reboot' })
      default:
        return this.#imageCommand(name, rest, base)
    }
  }

  /** Commands that load a kernel, an initramfs or a script, and boot it. */
  async #imageCommand(name: string, rest: readonly string[], base: string): Promise<LineEnd | undefined> {
    switch (name) {
      case 'imgfree':
        this.#kernel = undefined
        this.#initrds = []
        return undefined
      case 'kernel':
      case 'imgselect':
        this.#kernel = { url: await this.#fetched(rest[0], base), append: rest.slice(1).join(' ') }
        return undefined
      case 'initrd':
      case 'module':
        this.#initrds.push(await this.#fetched(rest[0], base))
        return undefined
      case 'imgargs':
        if (this.#kernel) this.#kernel.append = rest.slice(1).join(' ')
        return undefined
      case 'boot':
        return this.#boot()
      case 'sanboot':
        throw new Ended(
          rest[0] === undefined ? { kind: 'disk' } : { kind: 'iso', url: await this.#fetched(rest[0], base) },
        )
      case 'chain':
        return this.#chain(rest[0], base)
      default:
        this.#place.say(`iPXE: ${name}: command not found`)
        return expected(false, `${name}: command not found`)
    }
  }

  #boot(): LineEnd | undefined {
    if (!this.#kernel) return expected(false, 'there is no kernel to boot')
    const { url: kernel, append } = this.#kernel
    const [ramdisk] = this.#initrds
    if (ramdisk === undefined) return expected(false, 'there is no initramfs to boot')
    throw new Ended({ kind: 'kernel', kernel, ramdisk, append })
  }

  async #chain(target: string | undefined, base: string): Promise<LineEnd | undefined> {
    const { say, text } = this.#place
    const url = absolute(target, base)
    if (this.#depth >= MAX_CHAIN_DEPTH) return expected(false, 'scripts are chained too deep')
    say(`iPXE: ${url}`)
    const found = await text(url).catch((error: unknown) => this.#failed(url, error))
    this.#depth++
    const failure = await this.script(url, found)
    this.#depth--
    return expected(failure === undefined, failure ?? '')
  }

  async #fetched(target: string | undefined, base: string): Promise<string> {
    const url = absolute(target, base)
    await this.#place.check(url).catch((error: unknown) => this.#failed(url, error))
    return url
  }

  #failed(url: string, error: unknown): never {
    this.#place.signal.throwIfAborted()
    const why = `${maskedUrl(url)} could not be fetched: ${errorChain(error).join(': ')}`
    this.#place.say(`iPXE: ${why}`)
    throw new IpxeCommandError(why)
  }
}

type LineEnd =
  | { kind: 'done' }
  | { kind: 'goto'; label: string }
  | { kind: 'exit'; failure: string | undefined }
  | { kind: 'failed'; why: string }

function expected(holds: boolean, why: string): undefined {
  if (!holds) throw new IpxeCommandError(why)
}

function absolute(target: string | undefined, base: string): string {
  if (target === undefined || !URL.canParse(target, base))
    throw new IpxeCommandError(`${target ?? 'nothing'} is not a URL`)
  return new URL(target, base).href
}

/** Options before the other words, each with its value; those that have none in Ironic's scripts are listed. */
function parseIpxeOptions(words: readonly string[]): { options: Record<string, string>; rest: string[] } {
  const options: Record<string, string> = {}
  let at = 0
  for (; words[at]?.startsWith('--'); at++) {
    const [, name = '', value] = /^--([\w-]+)(?:=(.*))?$/.exec(words[at]!) ?? []
    options[name] = value ?? (SWITCHES.includes(name) ? '' : (words[++at] ?? ''))
  }
  return { options, rest: words.slice(at) }
}

const SWITCHES = ['no-describe', 'keep', 'autofree', 'replace', 'no-initrd']

/** A line that ends with a backslash goes on in the next one. */
const joined = (text: string): string[] => text.replaceAll(/\\\r?\n/g, ' ').split(/\r?\n/)
