#include "lockstep/model/user_module.h"

#include "lockstep/model/whole_file.h"

namespace lockstep::detail {

TrainableModule trainable(std::shared_ptr<torch::nn::Module> module) {
  TrainableModule result;
  result.title = "the module " + module->name();
  for (const auto& item : module->named_parameters()) {
    result.parameters.push_back({item.key(), item.value()});
  }
  result.buffers = [module] {
    std::vector<NamedTensor> buffers;
    for (const auto& item : module->named_buffers()) {
      if (item.value().defined()) buffers.push_back({item.key(), item.value()});
    }
    return buffers;
  };
  result.set_training = [module](bool training) { module->train(training); };
  result.save = [module](const std::string& path) {
    save_whole(path, [&](const std::string& part) { torch::save(module, part); });
  };
  result.draws_random_numbers = true;  // nobody can see whether it has dropout
  return result;
}

}  // namespace lockstep::detail
