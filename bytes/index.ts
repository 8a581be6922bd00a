/** Bytes from other programs: the HTTP client for files and its limits, URLs and their secrets. */
export { exchange, type Exchange, type ExchangeAnswer } from './http/exchange.js'
export { FetchFailure, type FetchFailureCode } from './http/fetch-failure.js'
export {
  HttpClient,
  type FileAnswer,
  type FileRequest,
  type HttpClientOptions,
  type RedirectHeaders,
} from './http/http-client.js'
export { DEFAULT_LIMITS, type HttpLimits } from './http/limits.js'
export { proxyFor, type ProxySettings } from './http/proxy.js'
export { readUpTo } from './http/read-up-to.js'
export { maskedAddress, maskedUrl, withoutPasswords } from './url.js'
