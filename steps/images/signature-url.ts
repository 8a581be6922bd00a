/** URL of an image's signature, as coreos-installer forms it: `.sig` after the path, the query unchanged. */
export function signatureUrlOf(url: string): string {
  const signature = new URL(url)
  signature.pathname += '.sig'
  return signature.href
}
