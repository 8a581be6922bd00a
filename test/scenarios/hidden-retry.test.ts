import { describe, expect, test } from 'vitest'
import { createStagedLab, installCoreos, type StagedLab, type LabEvent, type StagedNode } from '../../lab/index.js'
import { configdrive } from '../kit/deployed.js'

/**
 * Acts like BareMetal Operator on a host in `deploy failed`: it reports `last_error` if the node's image is that of the
 * host,
 * otherwise it writes the instance again and deploys. Without an image, as in a custom deployment, the two always
 * differ
 * (baremetal-operator, source).
 */
async function reconcile(
  lab: StagedLab,
  node: StagedNode,
  image: { url: string; checksum: string } | null,
): Promise<string | null> {
  const { provision_state: state, instance_info, last_error } = await node.get()
  if (state === 'deploy failed' && image !== null && instance_info['image_source'] === image.url)
    return `Image provisioning failed: ${last_error}`
  await lab.client.patchNode(node.uuid, [
    { op: 'add', path: '/instance_info/capabilities', value: {} },
    ...(image === null
      ? []
      : [
          { op: 'add' as const, path: '/instance_info/image_source', value: image.url },
          { op: 'add' as const, path: '/instance_info/image_checksum', value: image.checksum },
        ]),
  ])
  await node.provision('active', { deploy_steps: [installCoreos()], configdrive })
  await node.settled()
  return null
}

async function failing() {
  const reported: LabEvent[] = []
  const lab = await createStagedLab({
    onEvent: (event) => void (event.kind === 'deployment-repeated' && reported.push(event)),
  })
  const node = await lab.enroll()
  await node.makeAvailable()
  lab.faults.add({
    match: { program: 'coreos-installer' },
    effect: { kind: 'exit-code', code: 1, stderr: 'Error: no\n' },
  })
  return { lab, node, told: reported }
}

describe('a custom deployment that fails', () => {
  test('without an image is sent again forever and the host shows nothing: the lab says so', async () => {
    const { lab, node, told } = await failing()
    for (let round = 1; round <= 4; round++) expect(await reconcile(lab, node, null)).toBeNull()
    const last_error = `Deploy step deploy.install_coreos failed on node ${node.uuid}. coreos-installer failed with code 1: Error: no`
    expect(await node.get()).toMatchObject({ provision_state: 'deploy failed', last_error })
    expect(told).toMatchObject([
      { node: node.uuid, times: 2, error: last_error },
      { node: node.uuid, times: 3, error: last_error },
      { node: node.uuid, times: 4, error: last_error },
    ])

    // The cause is removed: the next deployment reports nothing, and the count starts again at one.
    lab.faults.clear()
    await reconcile(lab, node, null)
    expect(await node.get()).toMatchObject({ provision_state: 'active', last_error: null })
    expect(told).toHaveLength(4)
    await lab[Symbol.asyncDispose]()
  })

  test('with one is reported, and tried again only when somebody changes it', async () => {
    const { lab, node, told } = await failing()
    const image = { url: 'http://images.invalid/a.raw', checksum: 'http://images.invalid/a.raw.sha256' }
    expect(await reconcile(lab, node, image)).toBeNull()
    expect(await reconcile(lab, node, image)).toMatch(/^Image provisioning failed: Deploy step deploy.install_coreos/)
    expect(await reconcile(lab, node, { ...image, url: 'http://images.invalid/b.raw' })).toBeNull()
    expect(told).toEqual([])
    await lab[Symbol.asyncDispose]()
  })
})
