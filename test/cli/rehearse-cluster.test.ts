import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readClusterFolder, reportLines, type UpgradeReport } from '../../apps/cluster/index.js'
import { objectsIn, writeGathered } from '../kit/cluster/must-gather.js'
import { command } from '../kit/commands/command.js'

/** OpenShift 4.22 on bare metal, installed with 4.9: ten nodes in five pools, two hosts that are none. */
const DEPOT = join(import.meta.dirname, '../fixtures/own-cluster')

let folder: string
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'ironstage-own-cluster-'))))
afterEach(() => rm(folder, { recursive: true, force: true }))

async function rehearsal(...args: string[]) {
  const run = command(['rehearse', 'upgrade', ...args])
  const code = await run.ended
  return { code, stdout: run.stdout, stderr: run.stderr }
}

const reportIn = (stdout: string): UpgradeReport =>
  stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as UpgradeReport | { event: 'other' })
    .find((line): line is UpgradeReport => line.event === 'report')!

/** A copy of the cluster with a change of one file's text. */
async function changed(file: string, change: (text: string) => string): Promise<string> {
  await cp(DEPOT, folder, { recursive: true })
  await writeFile(join(folder, file), change(await readFile(join(folder, file), 'utf8')))
  return folder
}

const imageConfig = (image: string): string => `apiVersion: machineconfiguration.openshift.io/v1
kind: MachineConfig
metadata:
  name: 99-batch-image
  labels:
    machineconfiguration.openshift.io/role: batch
spec:
  osImageURL: ${image}
`

/** Releases come from a mirror, and from nowhere else. */
const MIRRORS_ALONE = `apiVersion: config.openshift.io/v1
kind: ImageDigestMirrorSet
metadata:
  name: releases
spec:
  imageDigestMirrors:
  - source: quay.io/openshift-release-dev
    mirrors: [mirror.depot.example/ocp]
    mirrorSourcePolicy: NeverContactSource
`

describe('a cluster of the user', () => {
  test('is rehearsed to its end, and the report names the three things that are wrong', async () => {
    const { code, stdout } = await rehearsal('--cluster', DEPOT, '--to', '4.23.0', '--json')
    expect(code).toBe(1)
    const report = reportIn(stdout)
    expect(report).toMatchObject({
      scenario: 'depot-x7k2p',
      cluster: { from: '4.22.3', to: '4.23.0', installed: '4.9.17', nodes: 10, hosts: 12, pools: 5 },
      outcome: 'completed',
      refusal: expect.stringContaining('ClusterVersionUpgradeable') as string,
    })
    expect(report.findings.map(({ effect, subject }) => `${effect}: ${subject}`)).toEqual([
      'blocks: Provisioning provisioning-configuration',
      'holds back: MachineConfigPool storage',
      'holds back: BareMetalHost depot-spare-1',
    ])
    const [skew, paused, host] = report.findings.map(({ says }) => says)
    expect(skew).toContain('boot image version 4.9.17, which is below the minimum required version 4.13.0')
    expect(paused).toContain('2 nodes stay on 4.22.3')
    expect(host).toContain('registration error: Failed to get power state')
    const pools = Object.fromEntries(report.pools.map((pool) => [pool.pool, pool]))
    expect(pools['batch']).toMatchObject({ maxUnavailable: 2, atOnce: 2, behind: [] })
    expect(pools['master']).toMatchObject({ maxUnavailable: 1, atOnce: 1 })
    expect(pools['master']!.reboots.map(({ node }) => node)).toEqual(
      [0, 1, 2].map((number) => `depot-cp-${number}.depot.example`),
    )
    expect(pools['storage']).toMatchObject({
      paused: true,
      reboots: [],
      behind: ['depot-s-0.depot.example', 'depot-s-1.depot.example'],
    })
    expect(report.pulled).toMatchObject({ nodes: 8, bytes: 8 * 1100 * 2 ** 20 })
    expect(report.disruption).toContainEqual({ of: '/etc/chrony.conf', does: 'reloads chronyd.service', isOwn: true })
    expect(report.notPlayed).toEqual({ Forklift: 1, Route: 1 })
    expect(stdout).not.toContain('NSBieXRlcyBsb25n')
    for (const line of reportLines(report, 80)) expect(line.length, line).toBeLessThanOrEqual(80)
  })

  test('with a node image of its own in a pool keeps it, from a registry that a disconnected site reaches', async () => {
    const image = 'registry.depot.example:5000/images/node:2026-08'
    await changed('others.yaml', (text) => `${text}---\n${imageConfig(image)}---\n${MIRRORS_ALONE}`)
    const { code, stdout } = await rehearsal('--cluster', folder, '--to', '4.22.9', '--json')
    const report = reportIn(stdout)
    expect({ code, outcome: report.outcome }).toEqual({ code: 0, outcome: 'completed' })
    const batch = report.pools.find(({ pool }) => pool === 'batch')!
    // The rest of its configuration is that of the release before.
    expect(batch).toMatchObject({ behind: [], nodes: 3, reboots: [] })
    expect(report.pulled).toMatchObject({ nodes: 5, bytes: 5 * 1100 * 2 ** 20 })
    expect(report.findings.find(({ subject }) => subject.endsWith(' batch'))?.says).toContain(
      `runs the node image ${image} of MachineConfig 99-batch-image: its 3 nodes get no node image of 4.22.9`,
    )
    expect(report.notes).toContain(
      `a made image, with the system that its nodes run, stands for each of a MachineConfig: ${image}`,
    )
  })

  test('of another platform, without hosts, has nodes alone: nothing is said of hosts that are made up', async () => {
    await changed('platform.yaml', (text) => text.replaceAll(': BareMetal', ': AWS'))
    for (const file of ['baremetalhosts.yaml', 'hardwaredata.yaml']) await rm(join(folder, file))
    const report = reportIn((await rehearsal('--cluster', folder, '--to', '4.22.9', '--json')).stdout)
    expect(report).toMatchObject({ cluster: { platform: 'AWS', nodes: 10, hosts: 0 }, outcome: 'completed' })
    expect(report.hosts).toEqual({ inspected: [], provisioned: [], waiting: [], adopted: [] })
    expect(report.notes.join('\n')).toContain('the platform AWS is not played')
    expect(reportLines(report, 80).join('\n')).not.toContain('Hosts:')
  })

  test('without what was wrong, it is upgraded; the report fits into a terminal', async () => {
    await cp(DEPOT, folder, { recursive: true })
    const replace = async (file: string, ...pairs: [string | RegExp, string][]): Promise<void> => {
      const path = join(folder, file)
      const text = pairs.reduce((all, [what, by]) => all.replaceAll(what, by), await readFile(path, 'utf8'))
      await writeFile(path, text)
    }
    await replace(
      'platform.yaml',
      [/ {2}provisioningOSDownloadURL.*\n/g, ''],
      [/status:\n {2}bootImage[^]*?Manual\n/g, ''],
    )
    await replace('machineconfigpools.yaml', ['paused: true', 'paused: false'])
    await replace('clusteroperators.yaml', [
      /status: "False"\n {6}type: Upgradeable/g,
      'status: "True"\n      type: Upgradeable',
    ])
    await replace('clusterversion.yaml', [
      /status: "False"\n {6}type: Upgradeable/g,
      'status: "True"\n      type: Upgradeable',
    ])
    await replace(
      'baremetalhosts.yaml',
      [/registration error/g, ''],
      ['operationalStatus: error', 'operationalStatus: OK'],
      ['state: registering', 'state: available'],
    )
    const { code, stdout, stderr } = await rehearsal('--cluster', folder)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toContain('depot-x7k2p: 4.22.3 to 4.23.0 on BareMetal')
    expect(stdout).toMatch(/Completed after \d+ min/)
    expect(stdout).toMatch(/storage +2 of 2 +1 of 1/)
    for (const line of stdout.split('\n')) expect(line.length, line).toBeLessThanOrEqual(100)
  })
})

describe('a must-gather', () => {
  test('of two images, with lists without kinds of their items, is the same cluster', async () => {
    const objects = await objectsIn(DEPOT)
    const isHost = ({ kind }: { kind: string }) => kind === 'BareMetalHost' || kind === 'ClusterVersion'
    const root = join(folder, 'must-gather.local.123')
    await writeGathered(
      join(root, 'quay-io-openshift-must-gather-sha256-1'),
      objects.filter((one) => !isHost(one)),
    )
    await writeGathered(join(root, 'quay-io-other-must-gather-sha256-2'), objects.filter(isHost))
    await writeFile(join(root, 'timestamp'), 'now\n')
    await mkdir(join(root, 'quay-io-other-must-gather-sha256-2/namespaces/a/pods/p/p/logs'), { recursive: true })
    const { code, stdout } = await rehearsal('--cluster', folder, '--to', '4.22.4', '--json')
    const report = reportIn(stdout)
    // A patch is taken in spite of the age of the boot images.
    expect(code).toBe(0)
    expect(report.refusal).toBeNull()
    expect(report.cluster).toMatchObject({ to: '4.22.4', nodes: 10, hosts: 12, pools: 5 })
    expect(report.findings.map(({ effect }) => effect)).toEqual(['blocks later', 'holds back', 'holds back'])
    expect(report.notes[0]).toBe('1 Secret of the folder is not read: accounts and passwords are made up')
    expect(report.notPlayed).toEqual({ Forklift: 1, Route: 1 })
  })

  test.each<[string, (text: string) => string, RegExp]>([
    [
      'in the middle of a line',
      (text) => text.slice(0, -20),
      /clusterversions\/version\.yaml:\d+ ends in the middle of a line: the file is cut off/,
    ],
    ['to nothing', () => '', /clusterversions\/version\.yaml is empty: it is cut off/],
    [
      'after its spec',
      (text) => text.slice(0, text.indexOf('status:')),
      /version\.yaml:\d+: the ClusterVersion version cannot be used: status is missing/,
    ],
    ['to no YAML', (text) => `${text}  - {\n`, /version\.yaml:\d+:\d+: this is not YAML/],
  ])('that is cut %s is refused with file and line', async (_, cut, message) => {
    const root = join(folder, 'image')
    await writeGathered(root, await objectsIn(DEPOT))
    const path = join(root, 'cluster-scoped-resources/config.openshift.io/clusterversions/version.yaml')
    await writeFile(path, cut(await readFile(path, 'utf8')))
    const { code, stdout, stderr } = await rehearsal('--cluster', folder)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(message)
  })
})

test('links and empty files are named, and not read', async () => {
  await cp(DEPOT, folder, { recursive: true })
  await writeFile(join(folder, 'empty.yaml'), '')
  await symlink('/etc/passwd', join(folder, 'linked.yaml'))
  await symlink('.', join(folder, 'circle'))
  const { notes } = await readClusterFolder(folder)
  expect(notes).toEqual(['empty.yaml is empty', 'linked.yaml is a link, and is passed over: copy what it leads to'])
})

describe('is refused', () => {
  test.each<[string, string, (text: string) => string, RegExp]>([
    [
      'a list that is cut off',
      'nodes.yaml',
      (text) => text.slice(0, text.lastIndexOf('kind: List')),
      /nodes\.yaml has items and no kind: the list is cut off/,
    ],
    [
      'two clusters',
      'others.yaml',
      (text) =>
        text.replace('kind: List', 'kind: List') +
        '---\napiVersion: config.openshift.io/v1\nkind: ClusterVersion\nmetadata: {name: version}\nspec: {clusterID: another}\nstatus: {history: [{state: Completed, version: 4.20.0, image: a}]}\n',
      /two clusters: clusterversion\.yaml is of 9f2d4c1a.*, and others\.yaml of another/,
    ],
    [
      'another version of a kind',
      'machineconfigpools.yaml',
      (text) => text.replace('openshift.io/v1', 'openshift.io/v2'),
      /machineconfigpools\.yaml:\d+: the MachineConfigPool master cannot be used: it is of machineconfiguration\.openshift\.io\/v2: v1 is known/,
    ],
    [
      'a wrong value',
      'machineconfigpools.yaml',
      (text) => text.replace('maxUnavailable: 2', 'maxUnavailable: two'),
      /machineconfigpools\.yaml:\d+: the MachineConfigPool batch cannot be used: spec\.maxUnavailable is "two"/,
    ],
    [
      'a cluster from before the live ISO',
      'clusterversion.yaml',
      (text) => text.replaceAll('4.22.3', '4.8.1').replaceAll('4.21.9', '4.8.0').replaceAll('4.9.17', '4.7.0'),
      /the cluster runs 4\.8\.1, and rehearsals of clusters begin with 4\.10\.0/,
    ],
    [
      'a MachineConfig that Ignition refuses',
      'machineconfigs.yaml',
      (text) => text.replace('version: 3.4.0', 'version: 9.9.9'),
      /the MachineConfig 99-worker-chrony cannot be used: .*9\.9\.9/,
    ],
    [
      'two nodes of one host',
      'nodes.yaml',
      (text) => `${text}---\n${text.replaceAll('name: depot-b-0.depot.example', 'name: depot-b-9.depot.example')}`,
      /the Nodes depot-b-0\.depot\.example and depot-b-9\.depot\.example are both of the BareMetalHost depot-b-0/,
    ],
    [
      'a file of PowerShell',
      'nodes.yaml',
      (text) => Array.from(text).join('\0'),
      /nodes\.yaml is no text in UTF-8.*Out-File/s,
    ],
    ['too many levels', 'others.yaml', () => '['.repeat(10_000), /others\.yaml is nested more than 500 levels deep/],
    [
      'aliases without end',
      'others.yaml',
      () =>
        Array.from({ length: 9 }, (_, at) => `a${at}: &a${at} [${at === 0 ? 'x' : `*a${at - 1},`.repeat(9)}]\n`).join(
          '',
        ),
      /others\.yaml repeats itself by too many aliases/,
    ],
    [
      'an installation that has not ended',
      'clusterversion.yaml',
      (text) => text.replaceAll('state: Completed', 'state: Partial'),
      /has not been installed to its end/,
    ],
  ])('%s', async (_, file, change, message) => {
    const { code, stdout, stderr } = await rehearsal('--cluster', await changed(file, change))
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(message)
  })

  test('a folder without a ClusterVersion, an archive, an empty folder, one that is not there', async () => {
    await cp(DEPOT, folder, { recursive: true })
    await rm(join(folder, 'clusterversion.yaml'))
    await mkdir(join(folder, 'empty'))
    await writeFile(join(folder, 'must-gather.tar.gz'), 'x')
    const refused = async (path: string) => (await rehearsal('--cluster', path)).stderr
    expect(await refused(folder)).toMatch(/has no ClusterVersion/)
    expect(await refused(join(folder, 'empty'))).toMatch(/has no objects of a cluster/)
    expect(await refused(join(folder, 'must-gather.tar.gz'))).toMatch(/is an archive, and not a folder.*tar xf/s)
    expect(await refused(join(folder, 'nowhere'))).toMatch(/there is no folder/)
  })

  test.each<[string[], RegExp]>([
    [['--to', '4.21.0'], /4\.21\.0 is older than 4\.22\.3, which the cluster runs/],
    [['--to', '4.22.3'], /the cluster runs 4\.22\.3 already/],
    [['--to', '4.23'], /4\.23 is no whole version.*4\.23\.0/s],
    [['--to', '4'], /4 is no whole version.*4\.0\.0/s],
    [['--to', 'v4.23.0'], /v4\.23\.0 is no whole version.*4\.23\.0/s],
    [['--to', 'newest'], /--to newest is no version, and there is no folder newest/],
    [['--to', 'package.json'], /--to names the file package\.json/],
    [['--to', DEPOT], /is no OCI layout/],
    [['--all'], /--cluster rehearses one cluster/],
    [['--compare'], /--cluster rehearses one cluster/],
    [['skew'], /--cluster rehearses one cluster/],
  ])('%j', async (args, message) => {
    const { code, stdout, stderr } = await rehearsal('--cluster', DEPOT, ...args)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(message)
  })

  test('--to without --cluster', async () => {
    expect(await rehearsal('--to', '4.23.0')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/--to is the release for --cluster/) as string,
    })
  })
})
