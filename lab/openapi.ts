import { IRONIC_OPERATIONS, IRONIC_RELEASES, openApiDocument, type IronicRelease } from '../wire/index.js'
import { packageVersion } from '../runtime/index.js'

/** The API of a release, the newest unless told otherwise, as an OpenAPI 3.1 document. */
export const openApi = (release: IronicRelease = 'master'): Readonly<Record<string, unknown>> =>
  openApiDocument(IRONIC_OPERATIONS, { newest: IRONIC_RELEASES[release], version: packageVersion() })
