import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Places } from './place.js'
import { goQuoted, JsonSyntaxError, readJson, type JsonNode } from './read-json.js'

const read = (text: string) => readJson(Buffer.from(text))

/** The value as JSON.parse returns it: the last of repeated keys. */
function valueOf(node: JsonNode): unknown {
  switch (node.kind) {
    case 'object':
      return Object.fromEntries(node.members.map(({ key, value }) => [key, valueOf(value)]))
    case 'array':
      return node.items.map(valueOf)
    case 'text':
      return node.text
    case 'number':
      return Number(node.literal)
    case 'flag':
      return node.flag
    case 'null':
      return null
  }
}

const parsed = (text: string): { value: unknown } | null => {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return null
  }
}

const ours = (text: string): { value: unknown } | null => {
  try {
    return { value: valueOf(read(text)) }
  } catch (error) {
    expect(error).toBeInstanceOf(JsonSyntaxError)
    return null
  }
}

test('reads every text that JSON.parse accepts, to the same value', () => {
  fc.assert(
    fc.property(fc.json({ stringUnit: 'binary' }), fc.constantFrom(0, 1, '\t'), (json, space) => {
      const text = JSON.stringify(JSON.parse(json), null, space)
      expect(ours(text)).toEqual(parsed(text))
    }),
  )
})

test('refuses every text that JSON.parse refuses', () => {
  fc.assert(
    fc.property(fc.json(), fc.nat(), fc.constantFrom(...'{}[]",:0-.eE+tn\\ u'), (json, where, put) => {
      const at = where % (json.length + 1)
      for (const text of [
        json.slice(0, at),
        json.slice(0, at) + put + json.slice(at),
        json.slice(0, at) + json.slice(at + 1),
      ])
        expect(ours(text), text).toEqual(parsed(text))
    }),
  )
})

test('every value has its offset in bytes', () => {
  const text = '{"é": [1, "ü"],\n"b": {}}'
  const node = read(text)
  expect(node).toMatchObject({ start: 0, end: Buffer.byteLength(text) })
  if (node.kind !== 'object') throw new Error('no object')
  const [first, second] = node.members
  expect(first).toMatchObject({ key: 'é', keyStart: 1, value: { kind: 'array', start: 7, end: 16 } })
  expect(second).toMatchObject({ key: 'b', keyStart: 18, value: { start: 23, end: 25 } })
  const places = new Places(Buffer.from(text))
  expect([0, 7, 18, 25, 26].map((offset) => places.of(offset))).toEqual([
    { line: 1, column: 1 },
    { line: 1, column: 8 },
    { line: 2, column: 1 },
    { line: 2, column: 8 },
    { line: 0, column: 0 },
  ])
})

test.each([
  ['{"a":1,}', "invalid character '}' looking for beginning of object key string", 8],
  ['[1 2]', "invalid character '2' after array element", 4],
  ['"\u0001"', String.raw`invalid character '\x01' in string literal`, 2],
  ['\u00e9', "invalid character 'Ã' looking for beginning of value", 1],
  ["'", String.raw`invalid character '\'' looking for beginning of value`, 1],
  ['[1', 'unexpected end of JSON input', 2],
  ['[tru', "invalid character ' ' in literal true (expecting 'e')", 4],
])('%j is refused with the message of Go', (text, message, offset) => {
  const error = (() => {
    try {
      read(text)
    } catch (caught) {
      return caught
    }
    return null
  })()
  expect(error).toMatchObject({ message, offset })
})

test('repeated keys and the spelling of numbers are preserved', () => {
  expect(read('{"a":1.0,"a":1e2}')).toMatchObject({
    members: [
      { key: 'a', value: { literal: '1.0' } },
      { key: 'a', value: { literal: '1e2' } },
    ],
  })
})

test.each([
  ['a "b" \\ \n', String.raw`"a \"b\" \\ \n"`],
  ['é日🙂', '"é日🙂"'],
  ['\u0000\u007f\u200b\u{e0001}', String.raw`"\x00\x7f\u200b\U000e0001"`],
])('%j is quoted as Go quotes', (text, quoted) => expect(goQuoted(text)).toBe(quoted))
