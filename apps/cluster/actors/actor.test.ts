import { describe, expect, test } from 'vitest'
import { minutes, seededRandom, seconds, silent, VirtualClock } from '../../../base/runtime/index.js'
import type { KubeClient } from '../kube/kube-client.js'
import { openKube } from '../kube/open-kube.js'
import { runActor, type ActorDefinition, type ActorParts } from './actor.js'
import { Behaviours } from './behaviours.js'

function openParts(): ActorParts & { clock: VirtualClock } {
  const clock = new VirtualClock()
  const random = seededRandom(3)
  const { client: kube } = openKube({ clock, random })
  return { kube, clock, random, logger: silent, behaviours: new Behaviours([]), announce: () => {} }
}

const create = (kube: KubeClient, name: string) =>
  kube.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'site' }, data: { round: '0' } })
const change = (kube: KubeClient, name: string, round: string) =>
  kube.patch('ConfigMap', { name, namespace: 'site' }, { data: { round } })

const definition = (reconcile: ActorDefinition['reconcile']): ActorDefinition => ({
  name: 'clerk',
  watches: [{ kind: 'ConfigMap' }],
  reconcile,
})

test('every object that is there is looked at, and each that comes, changes or goes', async () => {
  const parts = openParts()
  const { kube, clock } = parts
  const seen: (string | undefined)[] = []
  await create(kube, 'a')
  await using _ = runActor(
    definition(async (at) => {
      const found = await kube.find('ConfigMap', at)
      seen.push(`${at.name} ${found?.data?.['round'] ?? 'gone'}`)
    }),
    parts,
  )

  await clock.idle()
  await create(kube, 'b')
  await clock.idle()
  await change(kube, 'a', '1')
  await clock.idle()
  await kube.delete('ConfigMap', { name: 'b', namespace: 'site' })
  await clock.idle()

  expect(seen).toEqual(['a 0', 'b 0', 'a 1', 'b gone'])
  expect(clock.elapsed()).toBe(0)
})

describe('a key', () => {
  test('is never looked at twice at once: changes meanwhile are one more round', async () => {
    const parts = openParts()
    const { kube, clock } = parts
    const rounds = [] as string[]
    const present = new Set<string>()
    await create(kube, 'a')
    await using _ = runActor(
      definition(async (at) => {
        expect(present.has(at.name)).toBe(false)
        present.add(at.name)
        const { data } = await kube.get('ConfigMap', at)
        await clock.sleep(seconds(10))
        rounds.push(data!['round']!)
        present.delete(at.name)
      }),
      parts,
    )
    await clock.advance(seconds(5))
    for (const round of ['1', '2', '3']) await change(kube, 'a', round)

    await clock.advance(minutes(1))
    expect(rounds).toEqual(['0', '3'])
  })

  test('does not hold up another', async () => {
    const parts = openParts()
    const { kube, clock } = parts
    const done: string[] = []
    await create(kube, 'a')
    await create(kube, 'b')
    await using _ = runActor(
      definition(async ({ name }) => {
        if (name === 'a') await clock.sleep(seconds(10))
        done.push(name)
      }),
      parts,
    )
    await clock.advance(minutes(1))

    expect(done).toEqual(['b', 'a'])
  })

  test('is looked at again after the time that was asked for, or at its next change', async () => {
    const parts = openParts()
    const { kube, clock } = parts
    const at: number[] = []
    await create(kube, 'a')
    await using _ = runActor(
      definition(() => {
        at.push(clock.elapsed())
        return Promise.resolve(at.length < 4 ? { again: seconds(30) } : undefined)
      }),
      parts,
    )
    await clock.advance(seconds(40))
    await change(kube, 'a', '1')
    await clock.advance(minutes(10))

    expect(at).toEqual([0, 30, 40, 70].map(seconds))
  })

  test('that changes at any microtask of the end of a round is looked at again', async () => {
    for (let microtasks = 0; microtasks < 12; microtasks++) {
      const parts = openParts()
      const { kube, clock } = parts
      const rounds: string[] = []
      await create(kube, 'a')
      await using _ = runActor(
        definition(async (at) => {
          const { data } = await kube.get('ConfigMap', at)
          rounds.push(data!['round']!)
          if (rounds.length > 1) return
          void (async () => {
            for (let each = 0; each < microtasks; each++) await Promise.resolve()
            await change(kube, 'a', '1')
          })()
        }),
        parts,
      )
      await clock.advance(seconds(1))

      expect([microtasks, rounds.at(-1)]).toEqual([microtasks, '1'])
    }
  })

  test('whose every round changes its object again lets time pass', async () => {
    const parts = openParts()
    const { kube, clock } = parts
    let rounds = 0
    await create(kube, 'a')
    await using _ = runActor(
      definition(async () => {
        await change(kube, 'a', String(++rounds))
      }),
      parts,
    )
    await clock.advance(seconds(10))

    expect(rounds).toBeLessThan(1500)
  })
})

describe('a failure', () => {
  test('is tried again later and later, up to five minutes, and a success ends that', async () => {
    const parts = openParts()
    const { kube, clock } = parts
    const at: number[] = []
    await create(kube, 'a')
    await using _ = runActor(
      definition(() => {
        at.push(clock.elapsed() / 1000)
        return at.length === 12 ? Promise.resolve() : Promise.reject(new Error('no'))
      }),
      parts,
    )
    await clock.advance(minutes(60))
    const pauses = at.slice(1).map((time, index) => time - at[index]!)
    expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300])

    await change(kube, 'a', '1')
    await clock.advance(seconds(1))
    expect(at.length).toBe(14)
  })

  test('is tried again at once when the object changed meanwhile, as after a conflict', async () => {
    const parts = openParts()
    const { kube, clock } = parts
    await create(kube, 'a')
    await using _ = runActor(
      definition(async (at) => {
        const read = await kube.get('ConfigMap', at)
        if (read.data!['round'] === '0') await change(kube, 'a', '1')
        await kube.update({ ...read, data: { ...read.data, seen: 'yes' } })
      }),
      parts,
    )
    await clock.idle()

    expect((await kube.get('ConfigMap', { name: 'a', namespace: 'site' })).data).toEqual({ round: '1', seen: 'yes' })
  })

  test('that writes the object each time lets time pass', async () => {
    const parts = openParts()
    const { kube, clock } = parts
    let rounds = 0
    await create(kube, 'a')
    await using _ = runActor(
      definition(async () => {
        await change(kube, 'a', String(++rounds))
        throw new Error('no')
      }),
      parts,
    )
    await clock.advance(seconds(10))

    expect(rounds).toBeGreaterThan(5)
    expect(rounds).toBeLessThan(20)
  })

  test('of finding the keys is tried again too', async () => {
    const parts = openParts()
    const { kube, clock } = parts
    const seen: string[] = []
    let failures = 2
    await create(kube, 'a')
    await using _ = runActor(
      {
        name: 'clerk',
        watches: [
          {
            kind: 'ConfigMap',
            keysOf: ({ name }) => {
              if (failures-- > 0) throw new Error('no')
              return [{ name: `pool-of-${name}` }]
            },
          },
        ],
        reconcile: ({ name }) => {
          seen.push(name)
          return Promise.resolve()
        },
      },
      parts,
    )
    await clock.advance(minutes(1))

    expect(seen).toEqual(['pool-of-a'])
  })
})

describe('a watch that breaks', () => {
  test('begins again with what is there by then, and with what has gone meanwhile', async () => {
    const parts = openParts()
    const { kube, clock } = parts
    let breakWatch = (_: unknown): void => {}
    let watches = 0
    const breaking: KubeClient = {
      ...kube,
      watch: (kind, options) => {
        if (++watches > 1) return kube.watch(kind, options)
        const broken = new Promise<never>((_, reject) => (breakWatch = reject))
        return { [Symbol.asyncIterator]: () => ({ next: () => broken }) }
      },
    }
    const seen: string[] = []
    await create(kube, 'a')
    await create(kube, 'b')
    await using _ = runActor(
      definition(async (at) => {
        seen.push(`${at.name} ${(await kube.find('ConfigMap', at))?.data?.['round'] ?? 'gone'}`)
      }),
      { ...parts, kube: breaking },
    )
    await clock.idle()
    await kube.delete('ConfigMap', { name: 'a', namespace: 'site' })
    await change(kube, 'b', '1')
    await create(kube, 'c')
    breakWatch(new Error('reset'))
    await clock.advance(minutes(1))
    await change(kube, 'c', '2')
    await clock.idle()

    expect(seen).toEqual(['a 0', 'b 0', 'a gone', 'b 1', 'c 0', 'c 2'])
  })

  test('by falling behind is caught up with', async () => {
    const parts = openParts()
    const { kube, clock } = parts
    const seen = new Set<string>()
    await create(kube, 'a')
    await using _ = runActor(
      {
        ...definition(async (at) => {
          const found = await kube.find('ConfigMap', at)
          seen.add(`${at.name} ${found?.data?.['round']}`)
        }),
        watches: [{ kind: 'ConfigMap', keysOf: (at) => clock.sleep(seconds(1)).then(() => [at]) }],
      },
      parts,
    )
    await clock.idle()
    for (let round = 1; round <= 5000; round++) await change(kube, 'a', String(round))
    await clock.advance(minutes(5))

    expect([...seen].at(-1)).toBe('a 5000')
  })
})

test('an actor that is ended waits for what it does, and does nothing more', async () => {
  const parts = openParts()
  const { kube, clock } = parts
  const did: string[] = []
  await create(kube, 'a')
  const actor = runActor(
    definition(async (_, signal) => {
      did.push('begins')
      await clock.sleep(minutes(1), { signal }).catch(() => {})
      did.push('ends')
      return { again: seconds(1) }
    }),
    parts,
  )
  await clock.advance(seconds(1))
  await actor[Symbol.asyncDispose]()
  await create(kube, 'b')
  await clock.advance(minutes(5))

  expect(did).toEqual(['begins', 'ends'])
})
