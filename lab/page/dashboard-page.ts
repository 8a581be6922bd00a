import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageFile } from '../../base/runtime/index.js'
import type { Dispatch, WireResponse } from '../../base/wire/index.js'

/** Where the dashboard is served, beside the control API that it calls. */
export const PAGE_PATH = '/_lab/ui'

const PAGE_CONTENT_TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
}

/**
 * The page may load its own files and call its own server, and nothing else: a value that holds a script is text, and would
 * not run if it were not.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ')

const PAGE_HEADERS = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
}

/** Files that the build names by their contents: `assets/main-B1s2d3f4.js`. */
const NAMED_BY_CONTENTS = /^assets\/[\w-]+\.[\w.]+$/

/**
 * Serves the dashboard beside the control API. Its files are the same for every lab and say nothing of one, so they ask for
 * no password; what they show comes from the API, which does.
 */
export function withPage(api: Dispatch, folder: string = packageFile('dist/page')): Dispatch {
  const files = new Map<string, string | null>()
  const read = (path: string): string | null => {
    const known = files.get(path)
    if (known !== undefined) return known
    const text = fileText(join(folder, path))
    // A page that is built later is found then.
    if (text !== null) files.set(path, text)
    return text
  }
  return async (request) => {
    const path = request.target.replace(/[?#].*$/s, '')
    if (path !== PAGE_PATH && !path.startsWith(`${PAGE_PATH}/`)) return api(request)
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return pageRefusal(405, 'method-not-allowed', `${request.method} ${path} is not possible`, 'use GET')
    // Relative names of files need the slash.
    if (path === PAGE_PATH) return { status: 308, headers: { ...PAGE_HEADERS, location: `${PAGE_PATH}/` } }
    const name = path.slice(PAGE_PATH.length + 1) || 'index.html'
    const isAsset = NAMED_BY_CONTENTS.test(name)
    const text = name === 'index.html' || name === 'icon.svg' || isAsset ? read(name) : null
    if (text === null)
      return pageRefusal(
        404,
        'no-such-path',
        `there is no ${path}`,
        `the page is ${PAGE_PATH}/; npm run build makes it`,
      )
    return {
      status: 200,
      headers: {
        ...PAGE_HEADERS,
        'content-type': PAGE_CONTENT_TYPES[name.split('.').at(-1)!] ?? 'application/octet-stream',
        'cache-control': isAsset ? 'public, max-age=31536000, immutable' : 'no-cache',
      },
      body: text,
    }
  }
}

function fileText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

const pageRefusal = (status: number, code: string, message: string, remedy: string): WireResponse => ({
  status,
  headers: { ...PAGE_HEADERS, 'content-type': 'application/json' },
  body: JSON.stringify({ error: { code, message, remedy } }),
})
