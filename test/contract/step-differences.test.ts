import { expect, test } from 'vitest'
import { createStagedLab, installCoreos, type StagedLab } from '../../lab/index.js'
import { ignition } from '../kit/deployed.js'

/** Differences of the steps from the shipped ones on purpose that show on a whole machine; rows of docs/fidelity/. */

function commandsOf(lab: StagedLab): string[] {
  const commands: string[] = []
  lab.probe.attach((point, next) => {
    if (point.kind === 'command') commands.push((point['argv'] as string[]).join(' '))
    return next()
  })
  return commands
}

const isEntry = (line: string) => /^efibootmgr .*-c /.test(line)

test('the EFI boot entry is made after the disk was read back', async () => {
  await using lab = await createStagedLab()
  const commands = commandsOf(lab)
  const node = await lab.enroll({ deploySteps: [installCoreos({ ignition })] })
  await node.deploy()
  expect(await node.settled()).toMatchObject({ provision_state: 'active' })
  const at = (found: (line: string) => boolean) => commands.findIndex(found)
  const installed = at((line) => line.startsWith('coreos-installer'))
  const digest = at((line) => line.startsWith('sha256sum') && line.endsWith('/ignition/config.ign'))
  const entry = at(isEntry)
  expect(installed).toBeGreaterThan(-1)
  expect(digest).toBeGreaterThan(installed)
  expect(entry).toBeGreaterThan(digest)
})

test('no EFI boot entry is made for a disk that is not as asked', async () => {
  await using lab = await createStagedLab()
  const commands = commandsOf(lab)
  const node = await lab.enroll({ deploySteps: [installCoreos({ ignition })] })
  lab.faults.add({ match: { program: 'coreos-installer' }, effect: { kind: 'exit-code', code: 0 } })
  await node.deploy()
  expect(await node.settled()).toMatchObject({
    provision_state: 'deploy failed',
    last_error: expect.stringContaining('coreos-installer succeeded, but the disk is not as asked') as unknown,
  })
  expect(commands.filter(isEntry)).toEqual([])
})
