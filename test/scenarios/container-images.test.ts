import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { temporaryFolder } from '../../base/runtime/index.js'
import { createStagedLab, type StagedLab, type StagedNode } from '../../lab/index.js'
import type { JsonObject } from '../../base/wire/index.js'
import { configdrive, ignition, machineOf, readDisk } from '../kit/deployed.js'
import { putBootable } from '../kit/registry/bootable-container.js'
import { smallImage } from '../kit/images/rehearsal-image.js'
import { ARTIFACT_CALLS, artifactMembers, callsOf, expectedMembers } from '../kit/registry/artifact-deployment.js'
import { digestOf, hexOf, putDiskImage } from '../kit/registry/disk-artifacts.js'
import { registryServer, type RegistryServerHandle } from '../kit/registry/registry-server.js'
import { qcow2Image } from '../../machine/making/qcow2-image.js'

let raw: Buffer
let registry: RegistryServerHandle
beforeAll(async () => void (raw = await smallImage()))
beforeEach(async () => void (registry = await registryServer({ auth: 'bearer', users: { me: 'secret' } })))
afterEach(() => registry[Symbol.asyncDispose]())

const conf = { ociPermitsHttp: true }

async function available(lab: StagedLab, deploy_interface: string, more: JsonObject = {}): Promise<StagedNode> {
  const instance_info = { image_source: `oci://${registry.host}/disk`, image_pull_secret: 'me:secret', ...more }
  const node = await lab.enroll({ fields: { automated_clean: false, deploy_interface, instance_info } })
  await node.makeAvailable()
  return node
}

async function deployed(node: StagedNode, more: JsonObject = {}) {
  await node.provision('active', more)
  return node.settled()
}

describe('an artifact of a registry that asks for a password', () => {
  test.each(['direct', 'autodetect'])('is chosen and written by %s as by a real Ironic', async (deploys) => {
    const bytes = qcow2Image(raw, { compressed: true })
    putDiskImage(registry, 'org/disk', 'qcow2', bytes)
    await using lab = await createStagedLab({ disks: 'file', conf })
    const node = await available(lab, deploys, { image_source: `oci://${registry.host}/org/disk` })
    registry.seen.length = 0
    const active = await deployed(node)
    expect(active).toMatchObject({ provision_state: 'active', last_error: null, deploy_interface: 'direct' })
    expect(artifactMembers(active)).toEqual(expectedMembers(registry, bytes))
    expect((await readDisk(lab, node)).table).toBe('gpt')
    expect((await machineOf(node)).boot()).toMatchObject({ outcome: 'disk' })
    if (deploys === 'direct') expect(callsOf(registry)).toEqual(ARTIFACT_CALLS)
  })

  test('fails with Ironic’s sentence without the password', async () => {
    putDiskImage(registry, 'disk', 'raw', raw)
    await using lab = await createStagedLab({ conf })
    const failed = await deployed(await available(lab, 'direct', { image_pull_secret: '' }))
    expect(failed).toMatchObject({
      provision_state: 'deploy failed',
      last_error: `Failed to prepare to deploy: The requested image http://${registry.host}/v2/disk/tags/list requires authentication which has not been provided. Unable to proceed.`,
    })
  })

  test('that does not fit the machine fails the deployment', async () => {
    putDiskImage(registry, 'disk', 'hyperv', raw)
    await using lab = await createStagedLab({ conf })
    expect(await deployed(await available(lab, 'direct'))).toMatchObject({
      provision_state: 'deploy failed',
      last_error: "Failed to prepare to deploy: 'NoneType' object has no attribute 'startswith'",
    })
  })
})

describe('a container that can be booted', () => {
  test('is what autodetect takes bootc for; each validation asks the registry', async () => {
    await using open = await registryServer()
    const digest = putBootable(open, 'os')
    await using lab = await createStagedLab({ disks: 'file', conf })
    const node = await available(lab, 'autodetect', { image_source: `oci://${open.host}/os`, image_pull_secret: '' })
    const asked = () => open.seen.filter(({ url }) => url.endsWith('/tags/list')).length
    const before = asked()
    await lab.client.validate(node.uuid)
    expect(asked()).toBe(before + 1)
    expect(await deployed(node, { configdrive })).toMatchObject({
      provision_state: 'active',
      deploy_interface: 'bootc',
      last_error: null,
    })
    expect((await readDisk(lab, node)).partitions.map(({ name }) => name)).toEqual([
      'BIOS-BOOT',
      'EFI-SYSTEM',
      'root',
      'config-2',
    ])
    const machine = await machineOf(node)
    await expect.poll(() => machine.firstBoot()).toBeDefined()
    const image = `${open.host}/os@${digest}`
    expect(machine.firstBoot()).toMatchObject({
      hostname: 'worker-0',
      container: { image, configDrive: '/dev/disk/by-label/config-2' },
    })
    expect(machine.os()).toMatchObject({ booted: { image } })
    expect(machine.rootFiles()!.text('/etc/motd')).toBe('from the user\n')
    const { user_data } = configdrive
    expect(machine.rootFiles()!.text('/var/lib/cloud/instance/user-data.txt')).toBe(user_data)
  })

  test('has keys and an encrypted root, and is gone after a tear-down', async () => {
    await using open = await registryServer()
    const files = { 'usr/lib/bootc/install/50-luks.toml': '[install]\nblock = ["tpm2-luks"]\n' }
    putBootable(open, 'os', { files })
    await using lab = await createStagedLab({ disks: 'file', conf })
    const node = await available(lab, 'bootc', {
      image_source: `oci://${open.host}/os`,
      image_pull_secret: '',
      bootc_authorized_keys: ignition.passwd.users[0]!.sshAuthorizedKeys[0]!,
      bootc_tpm2_luks: true,
    })
    expect(await deployed(node)).toMatchObject({ provision_state: 'active', last_error: null })
    const machine = await machineOf(node)
    await expect.poll(() => machine.firstBoot()).toBeDefined()
    expect(machine.firstBoot()).toMatchObject({ users: [{ name: 'root' }] })
    const types = (await readDisk(lab, node)).partitions.map(({ filesystem }) => filesystem?.type)
    expect(types).toEqual([undefined, 'vfat', 'ext4', 'crypto_LUKS'])
    await node.provision('deleted')
    expect(await node.settled()).toMatchObject({ provision_state: 'available' })
  })

  test('gets of a name and a password the password alone, as Ironic ships it, so that podman cannot use it', async () => {
    putBootable(registry, 'disk')
    await using lab = await createStagedLab({ conf })
    const failed = await deployed(await available(lab, 'bootc', { image_pull_secret: 'me:secret' }))
    expect(failed.provision_state).toBe('deploy failed')
    expect(failed.last_error).toContain(
      `Download of image ${registry.host}/disk failed: Failed to pull container image: Unexpected error while running command.\nCommand: podman pull --authfile=`,
    )
    expect(failed.last_error).toContain(
      `Error: initializing source docker://${registry.host}/disk:latest: getting username and password: illegal base64 data at input byte 4`,
    )
  })

  test('is refused with the registry’s words where the secret is wrong, and comes with one that is an account in base64', async () => {
    putBootable(registry, 'disk')
    await using lab = await createStagedLab({ conf })
    const secret = (account: string) => ({ image_pull_secret: Buffer.from(account).toString('base64') })
    const failed = await deployed(await available(lab, 'bootc', secret('me:wrong')))
    expect(failed.last_error).toContain('unable to retrieve auth token: invalid username/password: unauthorized')
    const active = await deployed(await available(lab, 'bootc', secret('me:secret')))
    expect(active).toMatchObject({ provision_state: 'active', last_error: null })
  })

  test('comes with the account of [oci]authentication_config', async () => {
    putBootable(registry, 'disk')
    await using folder = await temporaryFolder()
    const file = join(folder.path, 'auth.json')
    const auth = Buffer.from('me:secret').toString('base64')
    await writeFile(file, JSON.stringify({ auths: { [registry.host]: { auth } } }))
    await using lab = await createStagedLab({ conf: { ...conf, ociAuthenticationFile: file } })
    const active = await deployed(await available(lab, 'bootc', { image_pull_secret: '' }))
    expect(active).toMatchObject({ provision_state: 'active', last_error: null })
  })

  test('fails on a broken disk, installs once that is mended, and is in snapshots', async () => {
    await using open = await registryServer()
    const digest = putBootable(open, 'os')
    await using lab = await createStagedLab({ conf })
    const fields = { image_source: `oci://${open.host}/os`, image_pull_secret: '' }
    const node = await available(lab, 'bootc', fields)
    const match = { node: node.uuid, disk: 'sda' }
    lab.faults.add({ match, effect: { kind: 'disk-error', at: 515 * 2 ** 20 }, times: 1 })
    const failed = await deployed(node)
    expect(failed.last_error).toContain('ERROR Installing to disk: Input/output error')
    const active = await deployed(node)
    expect(active).toMatchObject({ provision_state: 'active', last_error: null })
    const booted = { image: `${open.host}/os@${digest}` }
    const { id } = await lab.snapshots.take()
    await node.provision('deleted')
    expect(await node.settled()).toMatchObject({ provision_state: 'available' })
    await lab.snapshots.restore(id)
    const machine = await machineOf(node)
    expect(machine.os()).toMatchObject({ booted })
    await machine.setPower('reboot')
    await expect.poll(() => machine.boot()).toMatchObject({ outcome: 'disk' })
    expect(machine.rootFiles()!.text('/opt/app')).toBe('app')
  })

  test('is pulled although the registry’s connection breaks once', async () => {
    await using open = await registryServer()
    putBootable(open, 'os')
    await using lab = await createStagedLab({ conf })
    const match = { to: 'images', path: '**/blobs/**' } as const
    lab.faults.add({ match, effect: { kind: 'connection-reset' }, times: 1 })
    const image_source = `oci://${open.host}/os`
    const active = await deployed(await available(lab, 'bootc', { image_source, image_pull_secret: '' }))
    expect(active).toMatchObject({ provision_state: 'active' })
  })

  test('is not seen where the registry refuses, and the log says so', async () => {
    const lines: string[] = []
    await using lab = await createStagedLab({ conf, logger: (_, line) => void lines.push(line) })
    const node = await available(lab, 'autodetect')
    expect(await deployed(node)).toMatchObject({ provision_state: 'deploy failed', deploy_interface: 'direct' })
    expect(lines).toContainEqual(
      `Failed to detect bootc image for node ${node.uuid}: 404 Client Error: Not Found for url: http://${registry.host}/v2/disk/tags/list`,
    )
  })
})

test('an artifact that changes between the look of the conductor and the download of the agent is refused by its digest', async () => {
  putDiskImage(registry, 'disk', 'raw', raw)
  const other = Buffer.concat([raw.subarray(0, raw.length - 1), Buffer.from([1])])
  registry.repositories.get('disk')!.blobs.set(digestOf(raw), other)
  await using lab = await createStagedLab({ conf })
  const failed = await deployed(await available(lab, 'direct'))
  expect(failed.provision_state).toBe('deploy failed')
  expect(failed.last_error).toContain(hexOf(raw))
})
