import { composeStage } from '../../lab/index.js'
import { seededRandom, systemClock } from '../../base/runtime/index.js'

/** A lab's process reports where it listens, then on each message the processor time that it has used. */
export type Reported = { readonly url: string } | { readonly milliseconds: number }

const nodes = Number(process.argv[2])
const lab = await composeStage({
  network: { host: '127.0.0.1', port: 0 },
  clock: systemClock(),
  random: seededRandom(1),
  disks: 'described',
  machines: Array.from({ length: nodes }, (_, n) => ({ spec: n + 1, name: `node-${n}` })),
})
process.on('message', () => {
  const { user, system } = process.cpuUsage()
  process.send!({ milliseconds: (user + system) / 1000 } satisfies Reported)
})
process.on('disconnect', () => process.exit())
process.send!({ url: lab.url } satisfies Reported)
