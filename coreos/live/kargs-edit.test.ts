import { expect, test } from 'vitest'
import { editLiveKargs } from './kargs-edit.js'

test.each([
  ['appends at the end, duplicates too', 'a b', { append: ['b', 'c=d'] }, 'a b b c=d'],
  ['ignores an empty argument', 'a', { append: [''] }, 'a'],
  ['deletes whole words, every one of them', 'a=1 a a b a=1', { delete: ['a', 'x'] }, 'a=1 b a=1'],
  ['deletes several words at once', 'a b c d', { delete: ['b c'] }, 'a d'],
  ['replaces values', 'y=1 x y=1 y=12', { replace: ['y=1=2'] }, 'y=2 x y=2 y=12'],
  ['replaces what it appended', '', { append: ['y=1'], replace: ['y=1=2'] }, 'y=2'],
  ['replaces a value by itself', 'y=1', { replace: ['y=1=1'] }, 'y=1'],
  ['ignores a replacement without a match', 'y=1', { replace: ['y=7=3'] }, 'y=1'],
  ['treats patterns as plain text', 'a b', { delete: ['.'], append: ['$&'], replace: ['a=.=$&'] }, 'a b $&'],
])('an edit of the live kernel arguments %s', (_, line, edit, wanted) => expect(editLiveKargs(line, edit)).toBe(wanted))

test('a replacement needs an old and a new value', () => {
  expect(() => editLiveKargs('', { replace: ['y=2'] })).toThrow('Wrong input, format should be: KEY=OLD=NEW')
})
