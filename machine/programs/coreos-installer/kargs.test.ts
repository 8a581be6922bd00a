import fc from 'fast-check'
import { expect, test } from 'vitest'
import { editKargs, setPlatform } from './kargs.js'

test.each([
  ['appends at the end, duplicates too', 'a b', { append: ['b', 'c=d'] }, 'a b b c=d'],
  ['deletes whole words only', 'ro root=x rootflags=y', { delete: ['root', 'root=x'] }, 'ro rootflags=y'],
  ['deletes every match', 'a b a a', { delete: ['a'] }, 'b'],
  ['deletes several words at once', 'a b c d', { delete: ['b c'] }, 'a d'],
  ['does not mind what is not there', 'a', { delete: ['zzz'] }, 'a'],
  ['deletes before it appends', 'a', { delete: ['a'], append: ['a'] }, 'a'],
  ['does not read patterns', 'a$1 b', { delete: ['.'], append: ["$'", '$&'] }, "a$1 b $' $&"],
])('an edit of the kernel arguments %s', (_, line, edit, wanted) => expect(editKargs(line, edit)).toBe(wanted))

test('deleting the appended arguments restores the line', () => {
  const word = fc.stringMatching(/^[a-z=,.0-9$&]{1,8}$/)
  fc.assert(
    fc.property(fc.uniqueArray(word, { minLength: 1 }), fc.nat(), (words, cut) => {
      const at = cut % words.length
      const line = words.slice(0, at).join(' ')
      const rest = words.slice(at)
      expect(editKargs(editKargs(line, { append: rest }), { delete: rest })).toBe(line)
    }),
  )
})

test('the platform is replaced in place', () => {
  expect(setPlatform('rw ignition.platform.id=metal quiet', 'qemu')).toBe('rw ignition.platform.id=qemu quiet')
  expect(setPlatform('rw ignition.platform.id=metal4k', 'qemu')).toBeUndefined()
})
