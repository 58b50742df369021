#include "transport/tcp/greeting.h"

#include "gtest/gtest.h"

namespace skerry::transport {
namespace {

Greeting Example() {
  Greeting greeting{3, 1, 5};
  for (size_t i = 0; i < greeting.nonce.size(); ++i) {
    greeting.nonce[i] = static_cast<std::byte>(i + 1);
  }
  return greeting;
}

TEST(GreetingTest, WhatIsEncodedIsDecoded) {
  EXPECT_EQ(DecodeGreeting(EncodeGreeting(Example())), Example());
}

TEST(GreetingTest, BytesThatAreNoGreetingAreNone) {
  GreetingBytes bytes = EncodeGreeting(Example());
  bytes[0] ^= std::byte{1};
  EXPECT_FALSE(DecodeGreeting(bytes).has_value());
  bytes = EncodeGreeting(Example());
  bytes[14] = std::byte{1};
  EXPECT_FALSE(DecodeGreeting(bytes).has_value());
  for (const Greeting& wrong : {Greeting{5, 1, 5}, Greeting{1, 5, 5},
                                Greeting{2, 2, 5}, Greeting{0, 0, 0}}) {
    EXPECT_FALSE(DecodeGreeting(EncodeGreeting(wrong)).has_value());
  }
}

TEST(GreetingTest, AProofHoldsForOneSecretOneEndAndOnePairOfGreetings) {
  const GroupSecret secret = {std::byte{7}};
  GroupSecret other = secret;
  other[31] = std::byte{1};
  const GreetingBytes dialer = EncodeGreeting(Example());
  Greeting back{1, 3, 5};
  const GreetingBytes acceptor = EncodeGreeting(back);
  back.nonce[31] = std::byte{1};
  const GreetingBytes later = EncodeGreeting(back);
  const auto end = ConnectionEnd::kDialer;
  const Proof proof = ProofOf(secret, end, dialer, acceptor);
  EXPECT_TRUE(IsSameProof(proof, ProofOf(secret, end, dialer, acceptor)));
  for (const Proof& wrong :
       {ProofOf(other, end, dialer, acceptor),
        ProofOf(secret, ConnectionEnd::kAcceptor, dialer, acceptor),
        ProofOf(secret, end, dialer, later),
        ProofOf(secret, end, acceptor, dialer)}) {
    EXPECT_FALSE(IsSameProof(proof, wrong));
  }
}

TEST(EndpointTest, WhatIsEncodedIsDecodedAndNothingElseIsTaken) {
  for (const char* endpoint : {"10.0.0.7:1", "[::1]:65535", "a.example:80"}) {
    EXPECT_EQ(*DecodeEndpoint(EncodeEndpoint(endpoint)), endpoint);
  }
  for (const char* wrong : {"", "a", "unix:/a", "a:0", "a b:1", "0.0.0.0:1"}) {
    EXPECT_FALSE(DecodeEndpoint(EncodeEndpoint(wrong)).ok()) << wrong;
  }
  EndpointBytes unended;
  unended.fill(std::byte{'a'});
  EXPECT_FALSE(DecodeEndpoint(unended).ok());
}

}  // namespace
}  // namespace skerry::transport
