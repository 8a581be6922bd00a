import { checkNumber } from './option-values.js'

const GRAPHICAL = /^(tty0|hvc0|ttysclp0)$/
/** Port, speed, parity, bits. */
const SERIAL = /^(ttyS|ttyAMA)([0-9]+)(?:,([0-9]+)(?:([neo])([5-8])?)?)?$/

/** A console as the kernel's argument names it, with what GRUB needs to know of a serial one. */
export interface ConsoleSpec {
  karg: string
  grub: { kind: 'graphical' } | { kind: 'serial'; unit: number; speed: number; word: number; parity: string }
}

/** Reads `ttyS0,115200n8` and the like; missing parts are 9600n8. */
export function parseConsole(spec: string): ConsoleSpec | undefined {
  if (GRAPHICAL.test(spec)) return { karg: `console=${spec}`, grub: { kind: 'graphical' } }
  const [, port, unit, speed = '9600', parity = 'n', bits = '8'] = SERIAL.exec(spec) ?? []
  if (port === undefined) return undefined
  const name = { n: 'no', e: 'even', o: 'odd' }[parity]!
  return {
    karg: `console=${port}${unit},${speed}${parity}${bits}`,
    grub: { kind: 'serial', unit: Number(unit), speed: Number(speed), word: Number(bits), parity: name },
  }
}

/** The karg without `console=`. */
export const normalConsole = (spec: string): string => parseConsole(spec)!.karg.slice('console='.length)

export function checkConsole(value: string): string | undefined {
  for (const prefix of ['console=', '/dev/'])
    if (value.startsWith(prefix)) return `spec should not start with "${prefix}"`
  const [, , port, speed] = SERIAL.exec(value) ?? []
  if (port !== undefined && checkNumber(port) !== undefined) return "couldn't parse port"
  if (speed !== undefined && checkNumber(speed) !== undefined) return "couldn't parse speed"
  return parseConsole(value) ? undefined : 'invalid or unsupported console argument'
}
