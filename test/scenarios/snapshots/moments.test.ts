import { expect, test } from 'vitest'
import { momentsBelow } from '../../kit/snapshots/lab-journal.js'
import { wholeLife, type Connection } from '../../kit/snapshots/whole-life.js'
import { howMany } from '../../kit/how-many.js'

const SEED = Number(process.env['SNAPSHOT_SEED'] ?? 1)

test.each<Connection>(['in process', 'by sockets'])(
  'a snapshot at random moments of a cleaning and an installation with faults, restored, ends in the same journal (%s)',
  async (connection) => {
    await using first = await wholeLife(connection, SEED, [])
    const begin = first.journal.length
    const { journal: all } = await first.end()
    const moments = momentsBelow(all.length - begin, howMany(2, 50), SEED).map((moment) => begin + moment)

    await using life = await wholeLife(connection, SEED, moments)
    const whole = await life.end()
    // Ports differ.
    if (connection === 'in process') expect(whole.journal).toEqual(all)
    expect(whole.journal.length).toBe(all.length)
    expect(life.taken).toHaveLength(moments.length)
    const states = new Set(life.taken.flatMap((snapshot) => snapshot.states))
    for (const state of howMany(0, 1) === 1 ? ['clean wait', 'wait call-back'] : []) expect(states).toContain(state)
    for (const { id, at } of life.taken)
      for (let time = 0; time < howMany(1, 10); time++) {
        await life.restore(id)
        expect(await life.end()).toEqual({ ...whole, journal: whole.journal.slice(at) })
      }
  },
)
