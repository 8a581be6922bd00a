import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import { blocks, followTests, readersFolder } from '../kit/guides/guide.js'

test('the guide tests a deployment, configs and a client by Vitest', { timeout: 120_000 }, async () => {
  const folder = await readersFolder()
  const files = blocks('docs/in-a-test.md').filter(({ name }) => name.startsWith('vitest/'))
  expect(files.map(({ name }) => name)).toEqual([
    'vitest/snapshots.test.ts',
    'vitest/deployment.test.ts',
    'vitest/config.test.ts',
    'vitest/client.test.ts',
  ])
  for (const { name, text } of files) await writeFile(join(folder, basename(name)), text)
  expect(await followTests('npx vitest run', folder)).toMatchObject({ numPassedTests: 7, numFailedTests: 0 })
})

const FAILING = `
import { installCoreos } from 'ironstage'
import { ironstage } from 'ironstage/vitest'
import { expect, test as base } from 'vitest'

const test = base.extend(ironstage({ journalEntries: 30 }))
const labs = []

test('fails', async ({ lab }) => {
  labs.push(lab)
  const password = 'a-secret-of-the-bmc'
  const node = await lab.enroll({
    deploySteps: [installCoreos({ ignition: { ignition: { version: '3.4.0' }, passwd: { users: [{ name: 'core', passwordHash: 'a-secret-hash' }] } } })],
    fields: { name: 'broken', driver_info: { redfish_address: 'http://10.0.0.1', redfish_system_id: '/1', redfish_username: 'u', redfish_password: password } },
  })
  lab.faults.add({ match: { program: 'coreos-installer' }, effect: { kind: 'exit-code', code: 1, stderr: 'Error: a long story ' + 'of the disk '.repeat(40) } })
  await node.deploy()
  expect(await node.settled()).toMatchObject({ provision_state: 'active' })
})

test('passes, with a lab of its own', async ({ lab }) => {
  await lab.enroll({ fields: { name: 'whole' } })
  expect(labs).not.toContain(lab)
  await expect(labs[0].fetchAt('http://a')('http://a/v1').then(({ status }) => status)).resolves.toBe(503)
})
`

test('a test that fails shows its journal in 80 columns, without secrets', { timeout: 120_000 }, async () => {
  const folder = await readersFolder()
  await writeFile(join(folder, 'failing.test.ts'), FAILING)
  const printed = await new Promise<string>((resolve) => {
    const argv = ['node_modules/vitest/vitest.mjs', 'run', '--no-color']
    execFile(process.execPath, argv, { cwd: folder }, (_, stdout, stderr) => resolve(stdout + stderr))
  })
  expect(printed).toMatch(/1 failed \| 1 passed/)
  const [, text] = /^(Journal of the lab of "fails", the last 30 of \d+[^]*?)\n\n/m.exec(printed)!
  expect(text!.split('\n').filter((line) => line.length > 80)).toEqual([])
  expect(text).toMatch(/broken {2}.*deploy failed/)
  expect(text).toContain('Error: a long story of the disk')
  expect(printed).not.toMatch(/Journal of the lab of "passes/)
  expect(text).not.toContain('a-secret')
})
