import { createHash } from 'node:crypto'
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hashSync } from 'bcryptjs'
import { describe, expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../base/runtime/index.js'
import { command } from '../kit/commands/command.js'
import { imageServer } from '../kit/deployed.js'
import { smallImage } from '../kit/images/rehearsal-image.js'

/** `ironstage up --hosts`: BareMetal Operator on files of manifests. */

const SECRET = `
apiVersion: v1
kind: Secret
metadata: {name: bmc}
stringData: {username: admin, password: secret}
`
const host = (name: string, number: number, spec: string): string => `
apiVersion: metal3.io/v1alpha1
kind: BareMetalHost
metadata: {name: ${name}}
spec:
  bmc: {address: "redfish-virtualmedia://10.4.0.${number}:8000/redfish/v1/Systems/1", credentialsName: bmc}
  bootMACAddress: 52:54:00:b0:00:${String(number).padStart(2, '0')}
  ${spec}
`
const CUSTOM = 'online: true\n  customDeploy: {method: install_coreos}'
const SPARE_HOST_SPEC = 'online: false'

const scratch = () => mkdtemp(join(tmpdir(), 'ironstage-hosts-'))
const fast = ['--port', '0', '--speed', '5000']
const put = (folder: string, name: string, ...documents: string[]) =>
  writeFile(join(folder, name), documents.join('---\n'))

async function upWith(...args: string[]) {
  const up = command(['up', ...fast, ...args])
  await up.printed(/^metal3\/\S+ {2}registering|"state":"registering"/m)
  return {
    up,
    async [Symbol.asyncDispose]() {
      up.stop()
      await up.ended
    },
  }
}

describe('the files of --hosts', () => {
  test('are brought to what they ask for, and followed: edited, taken away, broken', async () => {
    const folder = await scratch()
    await put(folder, 'secret.yaml', SECRET)
    await put(folder, 'one.yaml', host('one', 1, CUSTOM))
    await put(folder, 'two.yaml', host('two', 2, SPARE_HOST_SPEC))
    await using running = await upWith('--hosts', folder, '--watch')
    const { up } = running
    await Promise.all([up.printed(/^metal3\/one {2}provisioned$/m), up.printed(/^metal3\/two {2}available$/m)])
    expect(up.stdout).toContain('metal3~one  active')

    await put(folder, 'two.yaml', host('two', 2, CUSTOM))
    await up.printed(/^metal3\/two {2}provisioned$/m)

    await put(folder, 'one.yaml', host('one', 1, 'online: perhaps'))
    await expect
      .poll(() => up.stderr, { timeout: 20_000 })
      .toMatch(/refused, and not applied: .*one\.yaml: .*spec\.online/)

    await rm(join(folder, 'one.yaml'))
    await up.printed(/^metal3\/one {2}deleted$/m)
    expect(up.stdout).toMatch(/one {2}deprovisioning[^]*one {2}powering off before delete[^]*one {2}deleting/)
    await put(folder, 'one.yaml', host('one', 1, SPARE_HOST_SPEC))
    await up.printed(/one {2}deleted[^]*metal3\/one {2}available$/m)
  })

  test('by image, custom step and live ISO: to provisioned, through edits and mistakes, to deleted', async () => {
    const folder = await scratch()
    const small = await smallImage()
    const other = Buffer.concat([small, Buffer.alloc(2 ** 20)])
    await using images = await imageServer({ '/small.raw': small, '/other.raw': other })
    const image = (path: string, bytes: Uint8Array): string => {
      const checksum = createHash('sha256').update(bytes).digest('hex')
      return `image: {url: "${images.url(path)}", checksum: ${checksum}, checksumType: sha256, format: raw}`
    }
    const live = 'image: {url: "http://images.invalid/live.iso", format: live-iso}'
    await put(folder, 'secret.yaml', SECRET)
    await put(folder, 'image.yaml', host('image', 1, `online: true\n  ${image('/small.raw', small)}`))
    await put(folder, 'custom.yaml', host('custom', 2, CUSTOM))
    await put(folder, 'live.yaml', host('live', 3, `online: true\n  ${live}`))
    await put(folder, 'notes.txt', 'kind: [no manifest')
    await using running = await upWith('--hosts', folder, '--watch')
    const { up } = running
    const provisioned = ['image', 'custom', 'live'].map((name) => `metal3/${name} {2}provisioned`)
    const printed = async (...lines: string[]): Promise<void> => {
      for (const line of lines) await up.printed(new RegExp(`^${line}$`, 'm'))
      up.stdout = ''
    }
    await printed(...provisioned)

    // Editors write a new file, and give it the name of the old one.
    await put(folder, '.image.yaml.new', host('image', 1, `online: true\n  ${image('/other.raw', other)}`))
    await rename(join(folder, '.image.yaml.new'), join(folder, 'image.yaml'))
    await printed('metal3/image {2}deprovisioning', 'metal3/image {2}provisioned')

    const complaint = (text: string) =>
      expect.poll(() => up.stderr, { timeout: 20_000 }).toContain(`refused, and not applied: ${folder}/${text}`)
    await put(folder, 'custom.yaml', 'kind: [oops\n')
    await complaint('custom.yaml: document 1 (line 1 col 12): this is not YAML')
    await put(folder, 'custom.yaml', host('custom', 2, `${CUSTOM}\n  imagee: {}`))
    await complaint(
      'custom.yaml: document 1, spec.imagee (line 10 col 3): strict decoding error: unknown field "spec.imagee"',
    )
    await put(folder, 'custom.yaml', host('custom', 2, CUSTOM), host('live', 3, CUSTOM))
    await complaint(`live.yaml: document 1, metadata.name (line 4 col 12): there is a host metal3/live already`)
    expect(up.stderr).toContain(`metal3/live already, in ${folder}/custom.yaml`)
    expect(up.stdout).not.toMatch(/deprovisioning|deleting/)

    await put(folder, 'custom.yaml', host('custom', 2, CUSTOM.replace('install_coreos', 'erase_devices')))
    await printed('metal3/custom {2}deprovisioning')
    await rm(join(folder, 'live.yaml'))
    await rm(join(folder, 'image.yaml'))
    await printed('metal3/live {2}deleted', 'metal3/image {2}deleted')
    expect(up.stderr).not.toContain('object has been modified')
  })

  test('are obeyed behind a password too, and in JSON a change is a line', async () => {
    const folder = await scratch()
    const users = join(folder, 'htpasswd')
    await writeFile(users, `admin:${hashSync('pass', 4)}\n`)
    await put(folder, 'hosts.yaml', SECRET, host('one', 1, CUSTOM))
    await using running = await upWith('--hosts', join(folder, 'hosts.yaml'), '--json', '--htpasswd', users)
    await running.up.printed(/"state":"provisioned"/)
    const lines = running.up.stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as object]))
    expect(lines).toContainEqual({
      event: 'host',
      host: 'metal3/one',
      state: 'provisioned',
      error: null,
      detached: false,
    })
  })

  test.each([
    ['that are not there', ['--hosts', '/no/such/hosts.yaml'], 'the manifests /no/such/hosts.yaml cannot be read'],
    ['that are not named', ['--watch'], '--watch follows the files of --hosts'],
  ])('%s are refused before anything starts', async (_, args, sentence) => {
    const up = command(['up', ...fast, ...args])
    expect(await up.ended).toBe(2)
    expect(up.stderr).toContain(sentence)
    expect(up.stdout).toBe('')
  })

  test('that are wrong are refused with their places before anything starts', async () => {
    const folder = await scratch()
    await put(folder, 'hosts.yaml', host('one', 1, 'online: perhaps'))
    const up = command(['up', ...fast, '--hosts', folder])
    expect(await up.ended).toBe(2)
    expect(up.stderr).toMatch(/hosts\.yaml: document 1, spec\.online \(line \d+ col \d+\): it must be of type boolean/)
    expect(up.stdout).toBe('')
  })
})

test('an object that is refused is refused by itself, and the command ends with 1, as kubectl apply does', async () => {
  const folder = await scratch()
  await put(folder, 'a.yaml', SECRET, host('one', 1, CUSTOM))
  await put(folder, 'b.yaml', host('two', 2, 'online: perhaps'))
  const up = command(['up', '--port', '0', '--clock', 'auto', '--hosts', folder])
  await up.printed(/^metal3\/one {2}provisioned$/m)
  expect(up.stderr).toMatch(/refused, and not applied: .*b\.yaml: document 1, spec\.online \(line \d+ col \d+\)/)
  expect(up.stdout).not.toContain('metal3/two')
  up.stop()
  expect(await up.ended).toBe(1)
})

test('the command ends at once, in the midst of everything', async () => {
  const folder = await scratch()
  await put(folder, 'hosts.yaml', SECRET, ...[1, 2, 3].map((n) => host(`h${n}`, n, CUSTOM)))
  for (const wait of [0, 100, 400]) {
    const up = command(['up', '--port', '0', '--speed', '60', '--hosts', folder, '--watch'])
    await up.printed(/registering/)
    await systemClock().sleep(wait)
    const since = performance.now()
    up.stop()
    expect(await up.ended).toBe(0)
    expect(performance.now() - since).toBeLessThan(2000)
  }
})

test('a fault of labelled hosts strikes a host of the files; one that met no host is said at the end and in the list', async () => {
  const folder = await scratch()
  const labelled = host('one', 1, SPARE_HOST_SPEC).replace('{name: one}', '{name: one, labels: {rack: a}}')
  await put(folder, 'hosts.yaml', SECRET, labelled, host('two', 2, SPARE_HOST_SPEC))
  const faults = join(folder, 'faults.yml.txt')
  await writeFile(
    faults,
    '- {match: {label: rack=a}, effect: {kind: bmc-silent}}\n- {match: {label: rack=z}, effect: {kind: bmc-silent}}\n',
  )
  const up = command(['up', ...fast, '--hosts', folder, '--faults', faults])
  await Promise.all([up.printed(/^metal3\/two {2}available$/m), up.printed(/^metal3\/one {2}registering: Failed/m)])
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(up.stdout)![0]
  const list = command(['fault', 'list', '--url', url])
  await list.ended
  expect(list.stdout).toMatch(/^fault-1 {2}bmc-silent {2}label=rack=a {2}struck [1-9]\d*$/m)
  expect(list.stdout).toMatch(/^fault-2 .* struck 0 {2}waits for a host with label rack=z$/m)
  up.stop()
  await up.ended
  expect(up.stderr).toContain('a fault met nothing: fault-2  bmc-silent  label=rack=z  struck 0  waits for a host with')
  expect(up.stderr).not.toContain('a fault met nothing: fault-1')
})

test('a dozen hosts at once are no reason for a warning', async () => {
  const folder = await scratch()
  await put(folder, 'hosts.yaml', SECRET, ...Array.from({ length: 12 }, (_, n) => host(`h${n}`, n, SPARE_HOST_SPEC)))
  const warnings: string[] = []
  const note = ({ message }: Error) => void warnings.push(message)
  process.on('warning', note)
  onTestFinished(() => void process.off('warning', note))
  await using running = await upWith('--hosts', folder)
  const available = () => running.up.stdout.split('\n').filter((line) => line.endsWith('  available')).length
  await expect.poll(available, { timeout: 50_000 }).toBe(12)
  expect(warnings).toEqual([])
})
