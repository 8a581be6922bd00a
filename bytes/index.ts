/** Bytes from other programs: the HTTP client for files and its limits, URLs and their secrets. */
export { type ArchiveFile, cpio, readCpio } from './archives/cpio.js'
export { readTar, type TarEntry } from './archives/tar-reader.js'
export { type ArchiveEntry, paxArchive, ustar } from './archives/tar.js'
export { ByteReader } from './byte-reader.js'
export { type ByteSource, bytesSource, followedBy, overlay, type Patch, slice, streamOf } from './byte-source.js'
export {
  type ByteStream,
  counted,
  fileStream as fileSource,
  memoryStream as memorySource,
  READ,
  streamFrom,
} from './byte-stream.js'
export { DecodeError, TRAILING_DATA } from './compression/decode-error.js'
export { decodedFile } from './compression/decoded-file.js'
export { unxz, unxzBlock } from './compression/decompress-xz.js'
export { type Compression, decompress, decompressMember, sniff } from './compression/decompress.js'
export { readXzIndex, type XzBlock, type XzIndex } from './compression/xz-index.js'
export { hasXzProgram, unxzByProgram } from './compression/xz-program.js'
export { xz } from './compression/xz-writer.js'
export { loadZstd } from './compression/zstd-writer.js'
export { ERRORS } from './errors.js'
export { type FileSource, openFileSource as openFileSource } from './file-source.js'
export { digestOfFile, readParts, sha256OfParts } from './file-digest.js'
export { sha256Hex } from './sha256.js'
export { FormatError } from './format-error.js'
export { contentRange, unsatisfiedSize } from './http/content-range.js'
export { exchange } from './http/exchange.js'
export { placeOf } from './http/connection.js'
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
export { DEFAULT_LIMITS, type HttpLimits } from './http/limits.js'
export { proxyFor, type ProxySettings } from './http/proxy.js'
export { readUpTo } from './http/read-up-to.js'
export { retryAfter } from './http/retry-after.js'
export { type IsoEntry, type IsoFilesystem, NotOnIso, readIso9660 } from './iso9660/read-iso9660.js'
export { writeIso } from './iso9660/write-iso9660.js'
export type { Representation } from './server/answer.js'
export { fileRepresentation } from './server/file-representation.js'
export { callerCheck, callerSentence, type CallerRefusal, type CallerRules } from './server/known-callers.js'
export { type FileServerOptions, type Found, serveFiles, type StreamedRepresentation } from './server/file-server.js'
export type { Headers } from './server/preconditions.js'
export {
  authority,
  basicAuthorization,
  bracketed,
  isLoopback,
  maskedAddress,
  maskedAddresses,
  maskedUrl,
  splitCredentials,
  withoutPasswords,
} from './url.js'
export { bufferOf, isZero, zeroRuns } from './zeros.js'
