const GRAPHICAL = /^(tty0|hvc0|ttysclp0)$/
/** Port, speed, parity, bits. */
const SERIAL = /^(ttyS|ttyAMA)([0-9]+)(?:,([0-9]+)(?:([neo])([5-8])?)?)?$/
/** coreos-installer 0.27.0 keeps a port in 8 bits and a speed in 32. */
const MAX_CONSOLE_PORT = 255
const MAX_CONSOLE_SPEED = 0xffffffff

/** A console: the kernel's argument, and GRUB's settings for it. */
export interface ConsoleSpec {
  karg: string
  grub: { kind: 'graphical' } | { kind: 'serial'; unit: number; speed: number; word: number; parity: string }
}

/** Parses a spec such as `ttyS0,115200n8`; missing parts are 9600n8. Undefined when {@link checkConsole} refuses it. */
export function parseConsole(spec: string): ConsoleSpec | undefined {
  if (checkConsole(spec) !== undefined) return undefined
  const serial = SERIAL.exec(spec)
  if (!serial) return { karg: `console=${spec}`, grub: { kind: 'graphical' } }
  const [, prefix, port, rate = '9600', parity = 'n', bits = '8'] = serial
  const unit = Number(port)
  const speed = Number(rate)
  const name = { n: 'no', e: 'even', o: 'odd' }[parity]!
  return {
    karg: `console=${prefix}${unit},${speed}${parity}${bits}`,
    grub: { kind: 'serial', unit, speed, word: Number(bits), parity: name },
  }
}

/** A spec in its full form: the kernel argument without `console=`. */
export const normalConsole = (spec: string): string => parseConsole(spec)!.karg.slice('console='.length)

/** The error of coreos-installer for an invalid spec; undefined for a valid one. */
export function checkConsole(value: string): string | undefined {
  for (const prefix of ['console=', '/dev/'])
    if (value.startsWith(prefix)) return `spec should not start with "${prefix}"`
  const serial = SERIAL.exec(value)
  if (!serial) return GRAPHICAL.test(value) ? undefined : 'invalid or unsupported console argument'
  if (Number(serial[2]) > MAX_CONSOLE_PORT) return "couldn't parse port"
  if (Number(serial[3] ?? 0) > MAX_CONSOLE_SPEED) return "couldn't parse speed"
  return undefined
}
