/// <reference types="node" preserve="true" />
/** `ironstage/msw`: a lab behind MSW and undici, so that a client of Ironic is tested without a socket. */
export { ironicHandlers } from './msw/ironic-handlers.js'
export {
  ironicInterceptor,
  type UndiciRequest,
  type UndiciController,
  type UndiciDispatch,
  type UndiciHandler,
} from './msw/ironic-interceptor.js'
