import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { command } from '../../../kit/commands/command.js'
import { debianProgram } from '../../peers.js'
import { REAL_PEER_TIMEOUT } from '../../limits.js'

/** The real kubectl on hosts that BareMetal Operator's work is done for: `ironstage up --kube-api`. */

const MANIFESTS = `
apiVersion: v1
kind: Secret
metadata: {name: bmc, namespace: metal3}
stringData: {username: admin, password: secret}
---
apiVersion: metal3.io/v1alpha1
kind: BareMetalHost
metadata: {name: one, namespace: metal3}
spec:
  online: true
  customDeploy: {method: install_coreos}
  bmc: {address: "redfish-virtualmedia://10.4.0.1:8000/redfish/v1/Systems/1", credentialsName: bmc}
  bootMACAddress: 52:54:00:b0:00:01
`

test('a host is applied, watched to provisioned, annotated, turned off and deleted', async () => {
  await debianProgram('kubectl', 'kubernetes-client')
  const folder = await mkdtemp(join(tmpdir(), 'ironstage-kubectl-'))
  const up = command(['up', '--port', '0', '--speed', '2000', '--kube-api', '0'])
  const [, server = ''] = await up.printed(/kubectl --server (\S+) get bmh/)
  const start = (...args: string[]) => {
    const child = spawn('kubectl', ['--server', server, '-n', 'metal3', ...args], {
      env: { PATH: process.env['PATH'], HOME: folder, LC_ALL: 'C' },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const output = { stdout: '', stderr: '' }
    child.stdout.on('data', (chunk: Buffer) => (output.stdout += chunk.toString()))
    child.stderr.on('data', (chunk: Buffer) => (output.stderr += chunk.toString()))
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
    return { output, ended, stop: () => child.kill() }
  }
  const prints = async (...args: string[]): Promise<string> => {
    const { output, ended } = start(...args)
    expect({ code: await ended, stderr: output.stderr }).toEqual({ code: 0, stderr: '' })
    return output.stdout
  }
  const path = join(folder, 'hosts.yaml')
  await writeFile(path, MANIFESTS)
  try {
    // Before the host: its first state may be over before a watch that begins later. With -v=6 it says when it watches.
    const watch = start('get', 'bmh', '-w', '-v=6')
    await expect.poll(() => watch.output.stderr, { timeout: REAL_PEER_TIMEOUT }).toMatch(/watch=true\S* 200 OK/)
    await prints('create', 'namespace', 'metal3')
    await prints('apply', '-f', path)
    const shows = (row: RegExp) => expect.poll(() => watch.output.stdout, { timeout: REAL_PEER_TIMEOUT }).toMatch(row)
    await shows(/^one +registering[^]*^one +inspecting[^]*^one +available[^]*^one +provisioned +true/m)

    expect(
      await prints('get', 'hardwaredata,hostfirmwaresettings,hostfirmwarecomponents,firmwareschemas', '-o', 'name'),
    ).toMatch(/hardwaredata\S*\/one[^]*hostfirmwaresettings\S*\/one[^]*hostfirmwarecomponents\S*\/one[^]*schema-/)
    const conditions = '{range .status.conditions[*]}{.type}={.status} {end}'
    expect(await prints('get', 'bmh', 'one', '-o', `jsonpath=${conditions}`)).toBe(
      'Ready=True AvailableForProvisioning=False Healthy=True Manageable=True Progressing=False Provisioned=True ',
    )

    await prints('annotate', 'bmh', 'one', 'reboot.metal3.io={"mode":"hard"}')
    const annotations = () => prints('get', 'bmh', 'one', '-o', 'jsonpath={.metadata.annotations}')
    await expect.poll(annotations, { timeout: REAL_PEER_TIMEOUT }).not.toContain('reboot.metal3.io')

    await prints('patch', 'bmh', 'one', '--type', 'merge', '-p', '{"spec":{"online":false}}')
    const power = () => prints('get', 'bmh', 'one', '-o', 'jsonpath={.status.poweredOn}')
    await expect.poll(power, { timeout: REAL_PEER_TIMEOUT }).toBe('false')

    await prints('delete', '-f', path)
    await shows(/deprovisioning[^]*powering off before delete[^]*deleting/)
    expect(await prints('get', 'bmh,hardwaredata,hfs', '-o', 'name')).toBe('')
    watch.stop()
    await watch.ended
  } finally {
    up.stop()
    expect(await up.ended).toBe(0)
    await rm(folder, { recursive: true })
  }
})
