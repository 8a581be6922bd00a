import { IRONIC_OPERATIONS } from './ironic/operations/index.js'
import { IRONIC_RELEASES, type IronicRelease } from './ironic/ironic-releases.js'
import { openApiDocument } from './ironic/ironic-openapi.js'
import { packageVersion } from '../runtime/index.js'

/** The API of a release, the newest by default, as an OpenAPI 3.1 document. */
export const openApi = (release: IronicRelease = 'master'): Readonly<Record<string, unknown>> =>
  openApiDocument(IRONIC_OPERATIONS, { newest: IRONIC_RELEASES[release], version: packageVersion() })
