/** Variables HOOK_TEST_SECRET and HOOK_TEST_TOKEN of gateways and workers whose hooks are tested. */
export const HOOK_SECRET = 'whsec_c2VjcmV0IG9mIHRoZSBob29rIHRlc3Rz';
export const HOOK_TOKEN = 'Bearer token-of-the-hook-tests';
