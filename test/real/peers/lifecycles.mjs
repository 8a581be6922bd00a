// Runs lifecycles of two nodes with faults in a lab of a seed, and prints its journal, a line an entry.
// Usage: node lifecycles.mjs INDEX_JS SEED
import { pathToFileURL } from 'node:url'

const [index, seed] = process.argv.slice(2)
const { createLab, installCoreos } = await import(pathToFileURL(index).href)
const ignition = {
  ignition: { version: '3.4.0' },
  storage: { files: [{ path: '/etc/hello', contents: { source: 'data:,hi' } }] },
}

for (const realistic of [false, true]) {
  const lab = await createLab({ seed: Number(seed), realistic })
  const deploySteps = [installCoreos({ append_karg: ['quiet'], ignition })]
  const nodes = [await lab.enroll({ deploySteps }), await lab.enroll({ deploySteps })]
  lab.faults.add({ match: { program: 'lsblk' }, effect: { kind: 'delay', ms: 100 }, probability: 0.5 })
  lab.faults.add({ match: { route: 'POST /v1/heartbeat' }, effect: { kind: 'status', status: 409 }, probability: 0.1 })
  await Promise.all(nodes.map((node) => node.deploy()))
  for (const node of nodes) await node.settled()
  const { id } = await lab.snapshots.take()
  await lab.wait(nodes[0].provision('deleted'))
  await nodes[0].settled()
  await lab.snapshots.restore(id)
  await lab.wait(nodes[1].provision('deleted'))
  await nodes[1].settled()
  for (const entry of lab.journal.entries()) console.log(JSON.stringify({ ...entry, wallTime: null }))
  await lab[Symbol.asyncDispose]()
}
