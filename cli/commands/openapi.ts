import { openApi, type IronicRelease } from '../../wire/index.js'
import type { Environment } from '../environment.js'
import type { Options } from '../options/options.js'
import type { OPENAPI_OPTIONS } from '../options/option-lists.js'

/** `ironstage openapi`: the API as an OpenAPI document. */
export function openapi(
  { 'ironic-release': release }: Options<(typeof OPENAPI_OPTIONS)[number]>,
  { stdout }: Environment,
): Promise<number> {
  stdout.write(`${JSON.stringify(openApi(release as IronicRelease | undefined), null, 2)}\n`)
  return Promise.resolve(0)
}
