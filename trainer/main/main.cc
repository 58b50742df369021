// skerry-trainer: the engine as a worker's trainer.
#include "trainer/main/program.h"
#include "trainer/service/job_engine.h"

int main(int argc, char** argv) {
  return skerry::trainer::RunProgram(argc, argv,
                                     skerry::trainer::MakeJobEngine);
}
