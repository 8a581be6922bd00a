import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, expect, test } from 'vitest'
import { packageFile } from '../../base/runtime/index.js'
import type { WireResponse } from '../../base/wire/index.js'
import { withPage } from './dashboard-page.js'

const folder = mkdtempSync(join(tmpdir(), 'page-'))
mkdirSync(join(folder, 'assets'))
writeFileSync(join(folder, 'index.html'), '<p>page')
writeFileSync(join(folder, 'assets/main-B1s2.js'), 'start()')
writeFileSync(join(folder, 'secret.txt'), 'secret')
afterAll(() => rmSync(folder, { recursive: true }))

const api = { status: 401, headers: {}, body: 'api' }
const served = withPage(() => Promise.resolve(api), folder)
const get = (target: string, method = 'GET'): Promise<WireResponse> =>
  served({ method, target, headers: {}, base: 'http://127.0.0.1' })

test('the page is served beside the API, without a password of the API', async () => {
  expect(await get('/_lab/ui/')).toMatchObject({
    status: 200,
    body: '<p>page',
    headers: { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-cache' },
  })
  expect(await get('/_lab/ui/assets/main-B1s2.js')).toMatchObject({
    status: 200,
    body: 'start()',
    headers: {
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': expect.stringContaining('immutable'),
    },
  })
  for (const target of ['/', '/v1/nodes', '/_lab', '/_lab/nodes', '/_lab/uid']) expect(await get(target)).toBe(api)
})

test('the page may load nothing but its own files, and nothing within them', async () => {
  const { headers } = await get('/_lab/ui/')
  expect(headers['content-security-policy']).toContain("default-src 'none'")
  expect(headers['content-security-policy']).not.toMatch(/unsafe|\*|https?:|data:/)
  const page = readFileSync(packageFile('dist/page/index.html'), 'utf8')
  expect(page).not.toMatch(/<style|style=|<script(?![^>]* src=)|https?:/)
})

test('without the slash it leads to the page', async () => {
  expect(await get('/_lab/ui')).toMatchObject({ status: 308, headers: { location: '/_lab/ui/' } })
})

test.each(['secret.txt', '../page.ts', 'assets/../secret.txt', '%2e%2e/secret.txt', 'assets/none-1.js', 'assets/'])(
  'no other file is served: %s',
  async (name) => {
    const { status, body } = await get(`/_lab/ui/${name}`)
    expect(status).toBe(404)
    expect(body).not.toContain('secret"')
  },
)

test('a page is only read', async () => {
  expect(await get('/_lab/ui/', 'POST')).toMatchObject({ status: 405 })
})

test('the whole page has at most 150 KiB compressed', () => {
  const page = packageFile('dist/page')
  const sizes = readdirSync(page, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => gzipSync(readFileSync(join(entry.parentPath, entry.name))).length)
  expect(sizes.length).toBeGreaterThan(3)
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(150 * 1024)
})
