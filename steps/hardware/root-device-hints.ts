import { TEXT_HINTS, type JsonObject, type TextHint } from '../../wire/index.js'
import type { BlockDevice } from './block-devices.js'
import { compare, parseExpression, type Expression } from './hint-expression.js'

/** A hint whose name or value makes no sense. */
export class BadHint extends Error {
  override name = 'BadHint'
}

const GIB = 2 ** 30
type Test = (device: BlockDevice) => boolean

/**
 * Compiles root device hints into a test that a disk passes when it satisfies all of them
 * (IPA's source). As upstream: text is compared without regard to case, also when percent-encoded;
 * a bare size must equal the disk's size in GiB exactly; serials and WWNs match in any variant that lsblk or udev know.
 *
 * Decided otherwise than upstream: `<all-in>` works (there it is a syntax error), `<or>` works for sizes, and a disk
 * without the attribute satisfies only `s!=` (there its absence reads as the text "none").
 *
 * @throws BadHint for an unknown hint and a value that cannot be compared
 */
export function compileHints(hints: JsonObject): Test {
  const tests = Object.entries(hints).map(([hint, value]) => compileHint(hint, value))
  return (device) => tests.every((test) => test(device))
}

/** The first disk, in the order given, that satisfies all hints. */
export const findByHints = (devices: readonly BlockDevice[], hints: JsonObject): BlockDevice | undefined =>
  devices.find(compileHints(hints))

function compileHint(hint: string, value: unknown): Test {
  if (hint === 'size') return sizeTest(value)
  if (hint === 'rotational') return rotationalTest(value)
  const name = TEXT_HINTS.find((known) => known === hint)
  if (name === undefined) throw new BadHint(`the hint ${hint} is not known`)
  if (typeof value !== 'string' || value.trim() === '')
    throw new BadHint(`the hint ${hint} must be text that is not empty`)
  const expression = parseExpression(normal(value), 's==')
  return (device) => {
    const known = attribute(device, name).map(normal)
    if (known.length === 0) return expression.operator === 's!='
    // A disk known by two serials is different from a third one only if neither equals it.
    return expression.operator === 's!='
      ? known.every((text) => compare(text, expression))
      : known.some((text) => compare(text, expression))
  }
}

function sizeTest(value: unknown): Test {
  const expression = parseExpression(normal(String(value)), '==')
  if (!isSizes(expression)) throw new BadHint('the hint size must be a positive whole number of GiB')
  return (device) => compare(String(device.size / GIB), expression)
}

const isSizes = ({ operator, values }: Expression) =>
  values.length > 0 &&
  !operator.startsWith('s') &&
  operator !== '<in>' &&
  operator !== '<all-in>' &&
  values.every((value) => /^[1-9]\d*$/.test(value))

function rotationalTest(value: unknown): Test {
  const word = normal(String(value))
  if (/^(true|t|yes|y|on|1)$/.test(word)) return (device) => device.rotational
  if (/^(false|f|no|n|off|0)$/.test(word)) return (device) => !device.rotational
  throw new BadHint('the hint rotational must be true or false')
}

function attribute(device: BlockDevice, hint: TextHint): string[] {
  const one = (value: string | null) => (value === null || value === '' ? [] : [value])
  switch (hint) {
    case 'model':
      return one(device.model)
    case 'wwn':
      return device.wwns
    case 'serial':
      return device.serials
    case 'vendor':
      return one(device.vendor)
    case 'wwn_with_extension':
      return one(device.wwnWithExtension)
    case 'wwn_vendor_extension':
      return one(device.wwnVendorExtension)
    case 'name':
      return one(device.name)
    case 'hctl':
      return one(device.hctl)
    case 'by_path':
      return one(device.byPath)
    case 'tran':
      return one(device.transport)
  }
}

/** Lower case, percent-encoding undone where there is some, inner white space as single blanks. */
function normal(text: string): string {
  const decoded = text.replace(/(?:%[\da-f]{2})+/gi, (bytes) =>
    Buffer.from(bytes.replaceAll('%', ''), 'hex').toString(),
  )
  return decoded.trim().toLowerCase().replaceAll(/\s+/g, ' ')
}
