import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createStagedLab, type StagedLab, type StagedNode } from '../../lab/index.js'
import type { JsonObject } from '../../base/wire/index.js'
import { machineOf, readDisk } from '../kit/deployed.js'
import { smallImage } from '../kit/images/rehearsal-image.js'
import { ARTIFACT_CALLS, artifactMembers, callsOf, expectedMembers } from '../kit/registry/artifact-deployment.js'
import { digestOf, hexOf, layer, MANIFEST, putDiskImage, putDocument } from '../kit/registry/disk-artifacts.js'
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

async function deployed(node: StagedNode) {
  await node.provision('active')
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
    putDocument(registry, {
      name: 'disk',
      type: MANIFEST,
      document: { config: { mediaType: 'application/vnd.oci.image.config.v1+json', size: 1 }, layers: [layer('os')] },
      tag: 'latest',
    })
    await using lab = await createStagedLab({ conf })
    const node = await available(lab, 'autodetect')
    const asked = () => registry.seen.filter(({ url }) => url.endsWith('/tags/list')).length
    const before = asked()
    await lab.client.validate(node.uuid)
    expect(asked()).toBe(before + 1)
    expect(await deployed(node)).toMatchObject({
      provision_state: 'deploy failed',
      deploy_interface: 'bootc',
      last_error: expect.stringContaining(
        `Download of image oci://${registry.host}/disk failed: Failed to pull container image: Error: initializing source`,
      ) as string,
    })
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
