import { describe, expect, test } from 'vitest'
import { host } from '../kit/commands/bmh.js'
import { command } from '../kit/commands/command.js'

const NOT_YAML = 'document 1 (line 2 col 4): this is not YAML: Nested mappings are not allowed in compact mappings'

describe('a manifest that is wrong', () => {
  const wrong = (spec: string) => host(spec)
  const notBase64 = 'apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata:\n  value: hush!\n'
  test.each<[string, string, string]>([
    [
      'a value of a Secret, whose line is not shown',
      notBase64,
      'document 1, data.value (line 5 col 3): it is not base64; plain text belongs into stringData\n',
    ],
    [
      'a value of a Secret that has two kinds',
      notBase64.replace('kind: Secret', 'kind: BareMetalHost\nkind: Secret'),
      'document 1, data.value (line 6 col 3): it is not base64; plain text belongs into stringData\n',
    ],
    [
      'an address with an account, whose line is not shown',
      wrong('').replace('redfish-virtualmedia://', 'redfsh://root:hush@'),
      "document 1, spec.bmc.address (line 6 col 9): Unknown BMC type 'redfsh' for address redfsh://******@10.0.0.5/redfish/v1/Systems/1\n",
    ],
    [
      'unknown field',
      wrong('  onlien: true'),
      'document 1, spec.onlien (line 8 col 3): strict decoding error: unknown field "spec.onlien"; did you mean online?\n    |   onlien: true\n    |   ^\n',
    ],
    [
      'wrong type',
      wrong('  automatedCleaningMode: metadata').replace('online: true', 'online: "yes"'),
      'document 1, spec.online (line 5 col 3): it must be of type boolean',
    ],
    [
      'wrong version',
      wrong('').replace('v1alpha1', 'v1'),
      'document 1, apiVersion (line 1 col 1): it must be "metal3.io/v1alpha1"',
    ],
    [
      'two ways of deploying',
      wrong('  image: {format: coreos, url: ""}\n  customDeploy: {method: install_coreos}'),
      'document 1, spec.customDeploy (line 9 col 3): there is image.format: coreos too: write one or the other',
    ],
    [
      'coreos with a URL',
      wrong('  image: {format: coreos, url: "file:///y"}'),
      'document 1, spec.image.url (line 8 col 27): where format is coreos, it is empty, or an http or https URL of a disk image',
    ],
    [
      'no checksum',
      wrong('  image: {url: "http://x/y"}'),
      'document 1, spec.image.checksum (line 8 col 3): checksum is required for normal images',
    ],
    [
      'both kinds of RAID',
      wrong('  raid: {hardwareRAIDVolumes: [{level: "1"}], softwareRAIDVolumes: [{level: "1"}]}'),
      'document 1, spec.raid (line 8 col 3): hardwareRAIDVolumes and softwareRAIDVolumes can not be set at the same time',
    ],
    [
      'RAID level',
      wrong('  raid: {hardwareRAIDVolumes: [{level: 1}]}'),
      'document 1, spec.raid.hardwareRAIDVolumes[0].level (line 8 col 33): it must be of type string',
    ],
    [
      'hints',
      wrong('  rootDeviceHints: {deviceName: sda}'),
      'document 1, spec.rootDeviceHints.deviceName (line 8 col 21): device name of root device hint must be a /dev/ path, not "sda"',
    ],
    [
      'hint that is none',
      wrong('  rootDeviceHints: {serial: A}'),
      'document 1, spec.rootDeviceHints.serial (line 8 col 21): strict decoding error: unknown field "spec.rootDeviceHints.serial"',
    ],
    [
      'BMC',
      wrong('').replace('redfish-virtualmedia:', 'redfsh:'),
      "document 1, spec.bmc.address (line 6 col 9): Unknown BMC type 'redfsh' for address redfsh://10.0.0.5/redfish/v1/Systems/1",
    ],
    ['YAML', 'kind: BareMetalHost\n  a: b\n', 'document 1 (line 1 col 7): this is not YAML'],
    ['YAML, whose line is shown', 'a: 1\nb: c: d\n', `${NOT_YAML}\n    | b: c: d\n    |    ^\n`],
    ['YAML of a Secret, whose line is not shown', 'kind: Secret\nb: c: hush\n', `${NOT_YAML}\n`],
    [
      'an alias for nothing',
      'kind: *x\n',
      'document 1 (line 1 col 1): it has the alias *x and no anchor &x before it\n',
    ],
    ['nothing', '# nothing\n', 'there is no BareMetalHost in it; name a file with an object of this kind'],
    [
      'a kind that is mistyped',
      'apiVersion: metal3.io/v1alpha1\nkind: BaremetalHost\nmetadata: {name: a}\n',
      'note: document 1, kind (line 2 col 1): a BaremetalHost causes no call and is ignored; did you mean BareMetalHost?\n',
    ],
    [
      'a kind that is none of these',
      'apiVersion: v1\nkind: Service\nmetadata: {name: a}\n',
      'note: document 1, kind (line 2 col 1): a Service causes no call and is ignored\n',
    ],
    [
      'Secrets alone',
      'apiVersion: v1\nkind: Secret\nmetadata: {name: bmc-0}\n',
      'there is no BareMetalHost in it, only the Secret bmc-0; name the file with the host too',
    ],
  ])('%s: is told with its place', async (_, yaml, expected) => {
    const run = command(['bmh', 'explain', '-'], { stdin: yaml })
    expect(await run.ended).toBe(1)
    expect(run.stdout).toBe('')
    expect(run.stderr).toContain(`standard input: ${expected}`)
    expect(run.stderr).not.toContain('hush')
  })

  const beside = (kind: string, spec: string) =>
    `apiVersion: metal3.io/v1alpha1\nkind: ${kind}\nmetadata: {name: s, namespace: metal3}\nspec: ${spec}\n`

  test.each([
    [
      'BMCEventSubscription',
      '{hostName: worker-0, destination: "https://events.example/"}',
      'metal3/worker-0',
      '; then POST /v1/nodes/NODE/vendor_passthru?method=create_subscription once the host is registered',
    ],
    ['DataImage', '{url: "http://images.example/data.iso"}', 'metal3/s', '; then GET /v1/nodes/NODE/vmedia'],
    ['HardwareData', '{}', 'metal3/s', ''],
    ['HostFirmwareSettings', '{settings: {}}', 'metal3/s', ''],
  ])('a file with a %s alone passes, and says what it waits for', async (kind, spec, host, then) => {
    const run = command(['bmh', 'explain', '-'], { stdin: beside(kind, spec) })
    expect(await run.ended).toBe(0)
    expect(run.stderr).toContain(
      `standard input: note: document 1 (line 1 col 1): these files have no valid host ${host} for this ${kind}, which causes no call before there is one${then}`,
    )
  })

  test('a BMCEventSubscription alone that the webhook refuses does not', async () => {
    const run = command(['bmh', 'explain', '-'], { stdin: beside('BMCEventSubscription', '{hostName: worker-0}') })
    expect(await run.ended).toBe(1)
    expect(run.stderr).toContain('destination')
  })

  test('with a key twice is taken with the last value, as kubectl sends it, and a note says so', async () => {
    const stdin = wrong('  online: false').replace('online: true', 'online: true\n  description: a')
    const run = command(['bmh', 'explain', '-'], { stdin })
    expect(await run.ended).toBe(0)
    expect(run.stderr).toMatch(
      /^standard input: note: document 1 \(line \d+ col 3\): the key online is there twice: kubectl sends only the last one$/m,
    )
  })

  test('is refused by itself, and the others of the files are explained', async () => {
    const secret = 'apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n'
    const stdin = `${wrong('')}---\n${wrong('  onlien: true').replace('name: h', 'name: other')}---\n${secret}data: {username: "%%%"}\n`
    const run = command(['bmh', 'explain', '-'], { stdin })
    expect(await run.ended).toBe(1)
    expect(run.stdout).toContain('metal3/h (standard input, document 1)')
    expect(run.stdout).toContain('\ndeleting: the node is deleted\n')
    expect(run.stdout).not.toContain('metal3/other')
    expect(run.stderr).toContain(
      'standard input: document 2, spec.onlien (line 17 col 3): strict decoding error: unknown field "spec.onlien"; did you mean online?',
    )
    expect(run.stderr).toMatch(/standard input: document 3, data\.username \(line \d+ col 8\): it is not base64/)
  })

  test.each([
    ['username', '{password: x}', "Missing BMC connection detail 'username' in credentials"],
    ['password', '{username: admin}', "Missing BMC connection details 'password' in credentials"],
    ['password', '{username: admin, password: ""}', "Missing BMC connection details 'password' in credentials"],
  ])('a Secret without a %s is the registration error that the host shows', async (_, data, error) => {
    const stdin = `${wrong('')}---\napiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: ${data}\n`
    const run = command(['bmh', 'explain', '-'], { stdin })
    expect(await run.ended).toBe(1)
    expect(run.stderr).toBe('')
    expect(run.stdout).toContain(`registering: `)
    expect(run.stdout).toContain(`  Validation error with BMC credentials: ${error}`)
    expect(run.stdout).toContain('metal3/h does not reach its final state.')
  })

  test('and a file that is missing is wrong usage', async () => {
    const run = command(['bmh', 'explain', '/nowhere.yaml'])
    expect(await run.ended).toBe(2)
    expect(run.stderr).toContain('/nowhere.yaml cannot be read')
  })
})
