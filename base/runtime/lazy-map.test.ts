import { expect, test } from 'vitest'
import { LazyMap } from './lazy-map.js'

test('a late map answers as a map does, with and without entries', () => {
  const late = new LazyMap<string, number>()
  const map = new Map<string, number>()
  const asSeen = (each: LazyMap<string, number> | Map<string, number>) => [
    each.size,
    each.get('a'),
    each.has('a'),
    [...each],
    [...each.keys()],
    [...each.values()],
  ]
  const works: ((each: LazyMap<string, number> | Map<string, number>) => unknown)[] = [
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
  expect([...new LazyMap([['x', 1]])]).toEqual([['x', 1]])
})

test('an entry that is deleted while all are visited is not visited', () => {
  const late = new LazyMap([
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
