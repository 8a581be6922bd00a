import { expect, test } from 'vitest'
import { didYouMean, nearestWord } from './nearest.js'

test.each([
  ['deplyo', ['deploy', 'delete'], 3, 'deploy'],
  ['deplyo', ['deploy', 'delete'], 4, undefined],
  ['b', ['a'], 3, 'a'],
  ['ab', ['cd'], 3, undefined],
  ['word', [], 3, undefined],
])('nearest to %s of %j within an edit for each %i letters is %s', (word, known, letters, found) => {
  expect(nearestWord(word, known, letters)).toBe(found)
})

test.each([
  ['delai', ['delay', 'cut'], '; did you mean delay?'],
  ['by', ['kind', 'for'], '; it is one of kind, for'],
  ['by', [], ''],
])('%s of %j: "%s"', (word, known, end) => {
  expect(didYouMean(word, known)).toBe(end)
})
