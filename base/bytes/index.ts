/** Bytes from other programs: the HTTP client for files and its limits, URLs and their secrets. */
export { type ArchiveFile, makeCpio, readCpio } from './archives/cpio.js'
export { readTar, type TarEntry } from './archives/tar-reader.js'
export { type ArchiveEntry, paxArchive, makeTar } from './archives/tar.js'
export { ByteReader } from './byte-reader.js'
export {
  type ByteSource,
  bytesSource,
  followedBy,
  overlaySource,
  type Patch,
  sliceSource,
  streamSource,
} from './byte-source.js'
export {
  type ByteStream,
  countReads,
  fileStream as fileSource,
  memoryStream as memorySource,
  READ_BYTES,
  streamFrom,
} from './byte-stream.js'
export { DecodeError, TRAILING_DATA } from './compression/decode-error.js'
export { decodedFile } from './compression/decoded-file.js'
export { decompressXz, unxzBlock } from './compression/decompress-xz.js'
export { type Compression, decompress, decompressMember, detectCompression } from './compression/decompress.js'
export { readXzIndex, type XzBlock, type XzIndex } from './compression/xz-index.js'
export { hasXzProgram, unxzByProgram } from './compression/xz-program.js'
export { hasWasmLzma } from './compression/xz-wasm.js'
export { compressXz } from './compression/xz-writer.js'
export { loadZstd } from './compression/zstd-writer.js'
export { ERRORS } from './errors.js'
export { type FileSource, openFileSource as openFileSource } from './file-source.js'
export { FILE_URL_PATHS, fileOfUrl, FileUrlRefused, isFileUrl } from './file-url.js'
export { digestOfFile, readParts, sha256OfParts } from './file-digest.js'
export { sha256Hex } from './sha256.js'
export { FormatError } from './format-error.js'
export { contentRange, unsatisfiedSize } from './http/content-range.js'
export { requestOnce } from './http/http-exchange.js'
export { failurePlaceOf } from './http/http-connection.js'
export { FetchFailure, type FetchFailureCode } from './http/fetch-failure.js'
export {
  type FileAnswer,
  type FileBody,
  type FileRequest,
  HttpClient,
  type HttpClientOptions,
  type HttpThrough,
  type SentRequest,
  type ServerAnswer,
} from './http/http-client.js'
export type { SilenceListener } from './http/answer-body.js'
export { DEFAULT_HTTP_LIMITS, type HttpLimits } from './http/http-limits.js'
export { beyondLoopback, proxiesOfVariables, proxyFor, type ProxySettings } from './http/proxy.js'
export { readUpTo } from './http/read-up-to.js'
export { retryAfter } from './http/retry-after.js'
export { type IsoEntry, type IsoFilesystem, NotOnIso, readIso9660 } from './iso9660/read-iso9660.js'
export { writeIso } from './iso9660/write-iso9660.js'
export type { Representation } from './server/answer.js'
export { fileRepresentation } from './server/file-representation.js'
export { callerCheck, callerSentence, type CallerRefusal, type CallerRules } from './server/known-callers.js'
export {
  type FileServerOptions,
  type FoundFile,
  serveFiles,
  type StreamedRepresentation,
} from './server/file-server.js'
export type { ConditionalHeaders } from './server/http-preconditions.js'
export {
  authority,
  basicAuthorization,
  bracketHost,
  decodeEscapes,
  isLoopback,
  maskedAddress,
  maskedAddresses,
  maskedUrl,
  splitCredentials,
  withoutPasswords,
} from './url.js'
export { bufferOf, isZero, zeroRuns } from './zeros.js'
