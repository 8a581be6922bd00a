import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { Scope } from '../../../../base/runtime/index.js'
import { pythonPeer } from '../../peers.js'
import { forkedTests, type TestOutcome } from './forked-tests.js'
import { IdentityService } from './identity-service.js'

/** Every distribution that is installed, pinned. */
const PINNED = fileURLToPath(new URL('../../peers/tempest.txt', import.meta.url))

const PACKAGE = 'ironic_tempest_plugin.tests.api.admin'

/** The folder with tempest and ironic-tempest-plugin. */
export const tempestFolder = (): Promise<string> => pythonPeer(PINNED)

/** Number of tests in the pinned version that are not skipped: a missing one must be noticed. */
const TEMPEST_TESTS = 386

/** The classes of tests that need a graphical console, or the network service of OpenStack. */
const SKIPPED_CLASSES = [
  'test_console.TestGraphicalConsole',
  'test_nodes.TestNodeGraphicalConsole',
  'test_nodes.TestNodesVif',
]

/** More than there are modules of tests, each of which takes one. */
const ACCOUNTS = 40

/** Configuration of tempest for an Ironic of fake hardware. */
const settings = (identityUrl: string, folder: string): string => `
[DEFAULT]
log_file = ${folder}/tempest.log
[oslo_concurrency]
lock_path = ${folder}/locks
[auth]
use_dynamic_credentials = False
test_accounts_file = ${folder}/accounts.yaml
[identity]
auth_version = v3
uri_v3 = ${identityUrl}
region = lab
[service_available]
ironic = True
neutron = False
nova = False
glance = False
cinder = False
swift = False
[enforce_scope]
ironic = False
[compute]
build_interval = 1
[baremetal]
driver = fake-hardware
min_microversion = 1.1
max_microversion = latest
enabled_hardware_types = fake-hardware,ipmi,redfish
`

/**
 * Runs the API tests of ironic-tempest-plugin against an Ironic of fake hardware.
 *
 * @returns an outcome for each test, and one for each class that is skipped
 */
export async function tempestTests(url: string): Promise<TestOutcome[]> {
  await using scope = new Scope()
  const folder = await mkdtemp(join(tmpdir(), 'ironstage-tempest-'))
  scope.onClose(() => rm(folder, { recursive: true, force: true }))
  const identity = scope.use(await IdentityService.open(url))
  await mkdir(join(folder, 'locks'))
  await writeFile(join(folder, 'tempest.conf'), settings(identity.url, folder))
  await writeFile(join(folder, 'accounts.yaml'), JSON.stringify(accounts()))
  const outcomes = await forkedTests(await tempestFolder(), PACKAGE, { HOME: folder, TEMPEST_CONFIG_DIR: folder })
  return outcomes.map(({ test, ...more }) => ({
    test: /^setUpClass \(\S+\.api\.admin\.(\S+)\)$/.exec(test)?.[1] ?? test,
    ...more,
  }))
}

/** Expects every test to have passed, but for those that need a service that is not there. */
export function expectAllPassed(outcomes: readonly TestOutcome[]): void {
  const namesOf = (wanted: TestOutcome['outcome']) =>
    outcomes.filter(({ outcome }) => outcome === wanted).map(({ test }) => test)
  expect(outcomes.filter(({ outcome }) => outcome === 'failed')).toEqual([])
  expect(namesOf('skipped').sort()).toEqual(SKIPPED_CLASSES)
  expect(namesOf('passed')).toHaveLength(TEMPEST_TESTS)
}

/** Accounts of a project, and those of the whole system. */
function accounts(): object[] {
  return Array.from({ length: ACCOUNTS }, (_, index) => {
    const own = { password: 'secret', roles: ['admin'], user_domain_name: 'Default' }
    const ofProject = { ...own, username: `admin-${index}`, project_name: 'lab', project_domain_name: 'Default' }
    return [ofProject, { ...own, username: `system-${index}`, system: 'all' }]
  }).flat()
}
