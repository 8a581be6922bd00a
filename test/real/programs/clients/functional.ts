import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openstackClients } from './baremetal.js'
import { cloud } from './cloud.js'
import { forkedTests, type TestOutcome } from './forked-tests.js'

/** The cloud of each role; ironstage has no roles, every authenticated client may do everything. */
const ROLES = ['SYSTEM_ADMIN_CLOUD', 'OPERATOR_CLOUD', 'DEMO_CLOUD', 'DEMO_CLOUD_ALT']

/** Number of tests in the pinned version of openstacksdk: a missing one must be noticed. */
export const FUNCTIONAL_TESTS = 96

/** Runs openstacksdk's own functional tests for bare metal against an Ironic of fake hardware. */
export async function functionalTests(url: string): Promise<TestOutcome[]> {
  const folder = await mkdtemp(join(tmpdir(), 'ironstage-clients-'))
  try {
    return await forkedTests(await openstackClients(), 'openstack.tests.functional.baremetal.v1', {
      ...(await cloud(folder, url)),
      ...Object.fromEntries(ROLES.map((role) => [`OPENSTACKSDK_${role}`, 'ironstage'])),
      OS_LOG_CAPTURE: '1',
      OS_STDOUT_CAPTURE: '1',
      OS_STDERR_CAPTURE: '1',
      OS_TEST_TIMEOUT: '120',
    })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
