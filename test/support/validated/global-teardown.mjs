/** Prints how many answers the proxy has judged. */
export default async function validatedTeardown() {
  const { upstream, proxy } = globalThis.validatingProxy ?? {};
  if (upstream !== undefined) console.log(`\nThe validating proxy judged ${upstream.judged()} answers of gateways.`);
  if (proxy?.failure() !== undefined) console.error(proxy.failure());
  proxy?.stop();
  upstream?.stop();
}
