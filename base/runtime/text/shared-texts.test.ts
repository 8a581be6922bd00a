import { expect, test } from 'vitest'
import { shareText } from './shared-texts.js'

test('every text stays what it is, also after thousands of others', () => {
  const texts = Array.from({ length: 5000 }, (_, n) => `text ${n % 2500}`)
  expect(texts.map(shareText)).toEqual(texts)
})
