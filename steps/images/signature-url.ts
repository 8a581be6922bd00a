/** Where coreos-installer looks for the signature of an image: `.sig` behind the path, the query kept. */
export function signatureUrlOf(url: string): string {
  const signature = new URL(url)
  signature.pathname += '.sig'
  return signature.href
}
