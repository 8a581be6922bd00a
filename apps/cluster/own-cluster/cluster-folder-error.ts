import { defined, UserError } from '../../../base/runtime/index.js'
import { ERRORS } from '../errors.js'

/** A folder of a cluster's objects that cannot be used. */
export const clusterFolderError = (
  sentence: string,
  { remedy = ERRORS['cluster-folder'].remedy, cause }: { remedy?: string; cause?: unknown } = {},
): UserError => new UserError('cluster-folder', sentence, { kind: 'usage', remedy, ...defined({ cause }) })
