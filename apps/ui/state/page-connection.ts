import { signal } from '@preact/signals'
import { ControlRefused, LabClient } from '../../../control/index.js'
import { labUrl, tabStorage } from '../browser.js'

/** Connection of the page to its server. */
export type ConnectionState =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'live' }
  | { readonly kind: 'lost'; readonly why: string }
  | { readonly kind: 'login'; readonly isWrong: boolean }

export const connectionState = signal<ConnectionState>({ kind: 'connecting' })

const CREDENTIALS = 'credentials'

let authorization = tabStorage.get(CREDENTIALS)

/** A 401 is answered by the page's own form: browsers ask by themselves unless credentials are left out. */
const fetchWithoutDialog: typeof fetch = (input, init) => fetch(input, { ...init, credentials: 'omit' })

const headers = (): Record<string, string> => (authorization === null ? {} : { authorization })

/** The control API. Calls end with the signal. */
export const makeLabClient = (signal?: AbortSignal): LabClient =>
  new LabClient(labUrl(), { fetch: fetchWithoutDialog, headers: headers(), ...(signal ? { signal } : {}) })

/** Takes a name and a password for the rest of the session of this tab; null forgets them. */
export function signIn(account: { name: string; password: string } | null): void {
  authorization = account && `Basic ${base64(`${account.name}:${account.password}`)}`
  tabStorage.set(CREDENTIALS, authorization)
}

export const isSignedIn = (): boolean => authorization !== null

const base64 = (text: string): string =>
  btoa([...new TextEncoder().encode(text)].map((byte) => String.fromCharCode(byte)).join(''))

/** A call of Ironic's own API. */
export interface IronicCall {
  readonly method: 'GET' | 'PUT' | 'PATCH' | 'DELETE' | 'POST'
  readonly path: string
  readonly body?: unknown
}

/** Microversion of the page's calls: the newest that the server has. */
const PAGE_MICROVERSION = 'latest'

/** @throws Error with Ironic's own sentence */
export async function callIronic({ method, path, body }: IronicCall, signal?: AbortSignal): Promise<unknown> {
  const response = await fetchWithoutDialog(`${labUrl()}${path}`, {
    method,
    headers: {
      ...headers(),
      accept: 'application/json',
      'x-openstack-ironic-api-version': PAGE_MICROVERSION,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal ? { signal } : {}),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(faultIn(text) ?? `${method} ${path} answered ${response.status}`)
  return text === '' ? undefined : (JSON.parse(text) as unknown)
}

/** Ironic's sentence about an error: older releases have a document within a text. */
function faultIn(text: string): string | null {
  try {
    const { error_message: message, error } = JSON.parse(text) as { error_message?: unknown; error?: unknown }
    if (typeof error === 'object' && error !== null) return String((error as { message?: unknown }).message)
    const inner: unknown = typeof message === 'string' ? parsePageBody(message) : message
    if (typeof inner === 'object' && inner !== null)
      return String((inner as { faultstring?: unknown }).faultstring ?? text)
    return typeof message === 'string' ? message : null
  } catch {
    return null
  }
}

function parsePageBody(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** The same call for a shell. The password is left out: curl asks for it. */
export function curlOf({ method, path, body }: IronicCall): string {
  const version = path.startsWith('/_lab') ? null : PAGE_MICROVERSION
  return curlText({
    method,
    version,
    url: quoteShellWord(`${labUrl()}${path}`),
    ...(body === undefined ? {} : { body }),
  })
}

/** @param call its `url` is a word of a shell */
export function curlText(call: { method: string; version: string | null; url: string; body?: unknown }): string {
  const { method, version, url, body } = call
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return [
    'curl -sS',
    ...(isSignedIn() ? ['-u USER'] : []),
    ...(method === 'GET' ? [] : [`-X ${method}`]),
    ...(version === null ? [] : [`-H 'X-OpenStack-Ironic-API-Version: ${version.replace(/[^\w.]/g, '')}'`]),
    ...(body === undefined ? [] : [`-H 'Content-Type: application/json'`, `-d ${quoteShellWord(text)}`]),
    url,
  ].join(' ')
}

/** A word of a shell: nothing within single quotes has a meaning but the quote itself. */
export const quoteShellWord = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`

/** An error as a sentence with its remedy. */
export function sentenceOf(error: unknown): string {
  if (error instanceof ControlRefused) return error.remedy ? `${error.message} (${error.remedy})` : error.message
  return error instanceof Error ? error.message : String(error)
}
