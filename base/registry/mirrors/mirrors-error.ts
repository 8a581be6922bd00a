import { defined, UserError } from '../../runtime/index.js'
import { ERRORS } from '../errors.js'

export const mirrorsError = (
  sentence: string,
  cause?: unknown,
  remedy: string = ERRORS['image-mirrors'].remedy,
): UserError => new UserError('image-mirrors', sentence, { kind: 'usage', remedy, ...defined({ cause }) })
