import { createStagedLab, installCoreos, type StagedLab, type StagedLabOptions } from '../../../lab/index.js'
import type { Fault, JournalEntry } from '../../../control/index.js'
import { defined, minutes } from '../../../base/runtime/index.js'
import { IronicRefused, type ApiNode, type JsonObject, type RequestedStep } from '../../../base/wire/index.js'
import { ignition } from '../deployed.js'

interface SeenOptions {
  open?: (options: StagedLabOptions) => Promise<StagedLab>
  fields?: JsonObject
  /** The fault strikes before the node is available. */
  isNew?: boolean
  /** URL of the image that is installed; without, the one of the live system. */
  image?: string
}

/** Longer than Ironic waits for an agent, and beside the moments at which it looks at machines. */
const AGENT_SILENCE_TIME = minutes(40.3)

/**
 * Deploys a node under a fault, in a lab of its own, and then without it: the lines of docs/faults.md. The same lines tell
 * how often the fault struck, the first thing that it struck, and what became of the node.
 */
export async function seenWith(
  fault: Fault,
  { open, fields = {}, isNew = false, image }: SeenOptions = {},
): Promise<string[]> {
  // An agent of this pace asks thrice a second for a node that expects none.
  const journal = { capacity: 100_000 }
  await using lab = await (open ? open({ journal }) : createStagedLab({ journal }))
  const node = await lab.enroll({ fields: { ...fields, name: 'node-0' } })
  const { uuid } = node
  const deploy_steps = [installCoreos({ ignition, ...defined({ image_url: image }) })]
  if (!isNew) await node.makeAvailable()
  const plain = (text: string): string =>
    text
      .replaceAll(uuid, 'UUID')
      .replace(/"id":"[0-9a-f-]{36}"/g, '"id":"ID"')
      .replace(/agents\.invalid\/[\w-]+/g, 'AGENT')
      .replace(/127\.0\.0\.1:(?!1\b)\d+/g, 'images.example')
  const began = lab.clock.elapsed()
  lab.faults.add(fault)
  const lines: string[] = []

  const answer = await patiently(lab, deployment(lab, node, deploy_steps))
  if (answer !== null) lines.push(`the client gets: ${plain(answer)}`)
  await lab.wait(lab.clock.sleep(AGENT_SILENCE_TIME))
  const seen = await patiently(lab, lab.client.node(uuid).then(standing))
  lines.push(`the node: ${plain(seen ?? '')}`)

  const { id, struck } = lab.faults.list()[0]!
  const [first] = lab.journal.entries({ fault: id }).filter(({ kind }) => kind !== 'fault')
  const strikes = lab.journal.entries({ fault: id, kind: 'fault' }).filter(isStrike)
  if (strikes.length !== struck)
    throw new Error(`the fault struck ${struck} times, and the journal has ${strikes.length}`)
  lines.push(`struck ${struck === 1 ? 'once' : `${struck} times`}${first ? `, first: ${plain(entryText(first))}` : ''}`)
  if (lab.clock.elapsed() - began < AGENT_SILENCE_TIME) throw new Error('the clock did not move')

  lab.faults.clear()
  await lab.wait(lab.clock.sleep(AGENT_SILENCE_TIME))
  lines.push(`without it: ${plain(standing(await recovered(lab, uuid, deploy_steps)))}`)
  return lines
}

const isStrike = (entry: JournalEntry): boolean => entry.kind === 'fault' && entry.what === 'struck'

const standing = ({ provision_state: state, power_state: power, last_error: error }: ApiNode): string =>
  `${state}, ${power}${error === null ? '' : `, ${error === '' ? 'with an empty error' : error}`}`

/** The error that a client gets, or what it waits for; null for success. */
async function patiently(lab: StagedLab, work: Promise<string | void>): Promise<string | null> {
  const waited = lab.clock.sleep(minutes(5)).then(() => 'no answer for five minutes')
  return lab.wait(
    Promise.race([waited, work.then((text) => text ?? null)]).catch((error: unknown) =>
      error instanceof IronicRefused ? `${error.status}: ${error.message}` : String(error),
    ),
  )
}

async function deployment(
  lab: StagedLab,
  node: { uuid: string; makeAvailable(): Promise<void> },
  deploy_steps: readonly RequestedStep[],
): Promise<void> {
  await node.makeAvailable()
  await lab.client.provision(node.uuid, 'active', { deploy_steps })
}

/** Takes the node from where the fault has left it to a deployment. */
async function recovered(lab: StagedLab, uuid: string, deploy_steps: readonly RequestedStep[]): Promise<ApiNode> {
  for (let step = 0; step < 20; step++) {
    const node = await lab.client.node(uuid)
    const { provision_state: state, power_state: power } = node
    if (node.maintenance) await lab.client.setMaintenance(uuid, false)
    if (state === 'active' && power === 'power on') return node
    if (state === 'active') await lab.client.power(uuid, 'power on')
    else if (state === 'available' || state === 'deploy failed')
      await lab.client.provision(uuid, 'active', { deploy_steps })
    else if (state === 'enroll' || state === 'clean failed' || state === 'inspect failed')
      await lab.client.provision(uuid, 'manage')
    else if (state === 'manageable')
      await lab.client.provision(uuid, node.inspection_finished_at === null ? 'inspect' : 'provide')
    await lab.wait(lab.clock.sleep(AGENT_SILENCE_TIME))
  }
  return lab.client.node(uuid)
}

function entryText(entry: JournalEntry): string {
  switch (entry.kind) {
    case 'exchange': {
      const { from, to, method, target, status, error, duration } = entry
      const end = status === null ? error : `${status}${duration > 0 ? ` after ${duration / 1000} s` : ''}`
      return `${from} to ${to}: ${method} ${target.replace(/\?.*/, '')}: ${end}`
    }
    case 'command':
      return `${entry.argv[0]}: ${entry.error ?? `exit code ${entry.exitCode}`}${entry.duration > 0 ? ` after ${entry.duration / 1000} s` : ''}`
    case 'bmc':
      return `BMC, ${entry.call}: ${entry.error ?? 'done'}${entry.duration > 0 ? ` after ${entry.duration / 1000} s` : ''}`
    default:
      return entry.kind
  }
}
