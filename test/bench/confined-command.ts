import { truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { silent, systemRandom } from '../../base/runtime/index.js'
import { runToEnd } from '../../steps/index.js'
import { openLocalTarget, type TargetCommand } from '../../targets/index.js'
import { succeeds } from '../real/peers.js'
import { clock, percentile, timed, type Measured } from './measure.js'

const RUNS = 40
const MOST = 50

type Argv = TargetCommand['argv']

/**
 * The cost of confining one command: the difference to the program alone, which this process starts, in turns so that
 * other work on the machine meets both. Needs root.
 */
export async function confinedCommands(folder: string): Promise<Measured[]> {
  const where = join(folder, 'confined.img')
  await writeFile(where, '')
  await truncate(where, 16 * 2 ** 20)
  const environment = { ...process.env, PATH: `${process.env['PATH']}:/usr/sbin:/sbin` }
  const options = { where, installer: '/bin/true', environment, clock, random: systemRandom, logger: silent }
  await using opened = await openLocalTarget(options)
  const confined = (argv: Argv) => timed(() => runToEnd(opened.target.executor, argv, { effect: 'reads' }))
  const times = { sharing: [] as number[], own: [] as number[], alone: [] as number[] }
  for (let run = 0; run < RUNS; run++) {
    times.alone.push(await timed(() => succeeds('stat', '/')))
    times.sharing.push(await confined(['stat', '/']))
    // The same program, by a name of which it is not known that it makes no file in /run.
    times.own.push(await confined(['/usr/bin/stat', '/']))
  }
  const middle = (values: readonly number[]) => percentile(values, 50)
  const alone = middle(times.alone)
  const peer = { name: 'the program alone', value: alone }
  const each = { peer, reach: MOST, unit: 'ms', runs: RUNS } as const
  return [
    { what: 'confining a command that reads', ours: middle(times.sharing) - alone, ...each },
    { what: 'confining a command in a cell of its own', ours: middle(times.own) - alone, ...each },
  ]
}
