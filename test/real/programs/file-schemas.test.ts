import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { schemaCheckers } from './file-schemas.js'
import { succeeds, tool } from '../peers.js'

/** Files that users copy, held against the schemas that their programs publish. */

const ROOT = new URL('../../../', import.meta.url).pathname
/** Folders of manifests, with the files of secrets that a user writes into them. */
const KUSTOMIZED = [
  ['containers/ironstage/kubernetes', ['htpasswd']],
  ['deploy/kubernetes', ['htpasswd', 'database-password', 'bmc-password', 'ironic-password']],
] as const

let folder: string
let checkers: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ironstage-schemas-'))
  checkers = await schemaCheckers()
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const python = (script: string, ...options: string[]) =>
  tool(join(checkers, 'bin/python'), join(checkers, 'bin', script), ...options)
const check = (schema: string, path: string) => python('check-jsonschema', '--builtin-schema', `vendor.${schema}`, path)

/** Writes a changed copy of a file of the repository. */
async function changedCopy(path: string, change: (text: string) => string): Promise<string> {
  const copy = join(folder, path.replaceAll('/', '-'))
  await writeFile(copy, change(await readFile(join(ROOT, path), 'utf8')))
  return copy
}

describe.each([
  ['containers/ironstage/compose.yaml', 'compose-spec', '    image:', '    imagge:'],
  ['deploy/compose.yaml', 'compose-spec', '  image:', '  imagge:'],
  ['ci/github-action/action.yml', 'github-actions', 'runs:', 'run:'],
  ['ci/github-action/stop/action.yml', 'github-actions', 'runs:', 'run:'],
  ['examples/ci/github-workflow.yml', 'github-workflows', 'runs-on:', 'run-on:'],
  ['examples/ci/gitlab-ci.yml', 'gitlab-ci', 'script:', 'scrypt:'],
])('%s', (path, schema, key, wrong) => {
  test(`is as the schema of ${schema} wants it`, async () => {
    expect(await check(schema, join(ROOT, path))).toMatchObject({ code: 0 })
  })

  test(`with ${wrong.trim()} it would be refused`, async () => {
    const refused = await changedCopy(path, (text) => text.replaceAll(key, wrong))
    expect(await check(schema, refused)).toMatchObject({ code: 1 })
  })
})

test('the job of the component for GitLab is as its schema wants it, with the defaults of its inputs', async () => {
  const job = await changedCopy('templates/ironstage.yml', (text) => {
    const [inputs, jobs] = text.split('\n---\n')
    return jobs!.replaceAll(/\$\[\[ inputs\.(\w+) \]\]/g, (_, name: string) => {
      const found = new RegExp(`^ {4}${name}:\\n(?: {6}.*\\n)*? {6}default: '?([^'#\\n]*)`, 'm').exec(`${inputs}\n`)
      return found![1]!.trim()
    })
  })
  expect(await check('gitlab-ci', job)).toMatchObject({ code: 0 })
})

describe.each(KUSTOMIZED)('the manifests of %s', (source, secrets) => {
  const validate = (version: string, path: string) =>
    python('kubernetes-validate', '--strict', '--kubernetes-version', version, path)

  /** The manifests as `kubectl apply --kustomize` would send them. */
  async function manifests(change: (text: string) => string): Promise<string> {
    const place = join(folder, source)
    await cp(join(ROOT, source), place, { recursive: true })
    for (const secret of secrets) await writeFile(join(place, secret), 'lab:x\n')
    const built = join(folder, 'built.yaml')
    await writeFile(built, change(await succeeds('kubectl', 'kustomize', place)))
    return built
  }

  test.each(['1.29', '1.34'])(
    'are what Kubernetes %s takes, without a field that it does not know',
    async (version) => {
      expect(await validate(version, await manifests((text) => text))).toMatchObject({ code: 0 })
    },
  )

  test('with a field that Kubernetes does not know they would be refused', async () => {
    const refused = await manifests((text) => text.replace('containerPort:', 'containerPorts:'))
    expect(await validate('1.34', refused)).toMatchObject({ code: 1 })
  })
})
