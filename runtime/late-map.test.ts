import { expect, test } from 'vitest'
import { LateMap } from './late-map.js'

test('a late map answers as a map does, with and without entries', () => {
  const late = new LateMap<string, number>()
  const map = new Map<string, number>()
  const asSeen = (each: LateMap<string, number> | Map<string, number>) => [
    ...[each.size, each.get('a'), each.has('a'), [...each], [...each.keys()], [...each.values()]],
  ]
  const works: ((each: LateMap<string, number> | Map<string, number>) => unknown)[] = [
    (each) => each.delete('a'),
    (each) => [...each.set('a', 1).set('b', 2).set('a', 3)],
    (each) => each.delete('a'),
    (each) => each.delete('b'),
    (each) => [...each.set('a', 4)],
    (each) => each.clear(),
  ]
  for (const work of works) {
    expect(work(late)).toEqual(work(map))
    expect(asSeen(late)).toEqual(asSeen(map))
  }
  expect([...new LateMap([['x', 1]])]).toEqual([['x', 1]])
})

test('an entry that is deleted while all are visited is not visited', () => {
  const late = new LateMap([
    ['a', 1],
    ['b', 2],
  ])
  const seen: string[] = []
  for (const [key] of late) {
    seen.push(key)
    late.delete('b')
  }
  expect(seen).toEqual(['a'])
})
