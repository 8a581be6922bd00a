import { writeFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { UpgradeReport } from '../../apps/cluster/index.js'
import { documentText } from '../../coreos/index.js'
import { buildMeta } from '../kit/builds.js'
import { registryServer } from '../kit/registry/registry-server.js'
import { DIGEST, releaseParts, type ReleaseParts } from '../kit/registry/release-parts.js'
import { rhelStream } from '../kit/streams.js'

const DEPOT = join(import.meta.dirname, '../fixtures/own-cluster')
const COREOS = '9.8.20260901-0'

let parts: ReleaseParts
beforeEach(async () => void (parts = await releaseParts()))
afterEach(() => parts[Symbol.asyncDispose]())

async function release(dest: string, version: string): Promise<void> {
  const { at, write } = parts
  await writeFile(at('stream.json'), documentText(rhelStream({ version: COREOS, name: 'rhel' })))
  await writeFile(at('build.json'), documentText(buildMeta('x86_64', { name: 'rhcos', version: COREOS })))
  const component = ['--component', `ironic-agent=quay.io/our/agent@${DIGEST}`]
  const own = ['--version', version, '--stream', at('stream.json'), '--build', at('build.json')]
  const made = await write(dest, ...own, ...component)
  if (made.code !== 0) throw new Error(made.stderr)
}

const rehearsal = (...argv: string[]) => parts.ran('rehearse', 'upgrade', '--cluster', DEPOT, ...argv)

test('a cluster goes to a release of a folder and of a registry; an older one is refused', async () => {
  await using registry = await registryServer()
  await release(`oci:${parts.at('layout')}`, '4.22.4')
  await release(`${registry.host}/release:older`, '4.20.1')
  const { code, stdout } = await rehearsal('--to', parts.at('layout'), '--json')
  const lines = stdout.trim().split('\n')
  const report = lines.map((line) => JSON.parse(line) as UpgradeReport).find(({ event }) => event === 'report')
  expect(code).toBe(0)
  expect(report).toMatchObject({ outcome: 'completed', cluster: { to: '4.22.4' } })
  expect(report!.notes.join()).not.toContain('the release is made')
  const older = await rehearsal('--to', `${registry.host}/release:older`)
  expect(older).toMatchObject({ code: 2, stdout: '' })
  expect(older.stderr).toContain('4.20.1 is older than 4.22.3, which the cluster runs')
})

const cutOff = (_request: IncomingMessage, response: ServerResponse): void => {
  response.writeHead(200, { 'content-type': 'application/vnd.oci.image.manifest.v1+json', 'content-length': '5000' })
  response.write('{"schemaVersion":')
  setImmediate(() => response.destroy())
}
const answers = (status: number) => (_request: IncomingMessage, response: ServerResponse) =>
  void response.writeHead(status, { 'retry-after': '3600', 'www-authenticate': 'Basic realm="depot"' }).end()

test.each<[string, (request: IncomingMessage, response: ServerResponse) => void, RegExp]>([
  ['says 401', answers(401), /the release of --to cannot be read: .*127\.0\.0\.1.*/],
  ['says 429', answers(429), /the release of --to cannot be read: .*127\.0\.0\.1.* answers 429/],
  ['ends in the middle', cutOff, /the release of --to cannot be read: .*127\.0\.0\.1/],
])('a registry that %s is named in one sentence', async (_, fault, message) => {
  await using registry = await registryServer({
    fault: (request, response) => {
      if (!request.url!.includes('/manifests/')) return false
      fault(request, response)
      return true
    },
  })
  const { code, stdout, stderr } = await rehearsal('--to', `${registry.host}/release:next`)
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toMatch(message)
  expect(stderr.match(/^ironstage:/gm)).toHaveLength(1)
})
