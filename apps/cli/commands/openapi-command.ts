import { controlOpenApi } from '../../../control/index.js'
import { openApi, type IronicRelease } from '../../../base/wire/index.js'
import type { Environment } from '../environment.js'
import type { CommandOptionValues } from '../options/resolve-options.js'
import type { OPENAPI_OPTIONS } from '../options/option-lists.js'

/** `ironstage openapi`: Ironic's API, or the control API, as an OpenAPI document. */
export function openapi(
  { 'ironic-release': release, lab }: CommandOptionValues<(typeof OPENAPI_OPTIONS)[number]>,
  { stdout }: Environment,
): Promise<number> {
  const document = lab ? controlOpenApi() : openApi(release as IronicRelease | undefined)
  stdout.document(document)
  return Promise.resolve(0)
}
